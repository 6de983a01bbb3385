-- Whether an update repeats a message that was forgotten: it answers or pins it.
create or replace function knowledge.quotes_forgotten(p_workspace_id uuid, p_chat_id bigint, p_body jsonb)
returns boolean language sql stable as $$
    select exists (
        select from jsonb_each(p_body) u cross join unnest('{reply_to_message,pinned_message}'::text[]) q
         cross join lateral (select u.value -> q as quoted) m
         where jsonb_typeof(m.quoted) = 'object' and m.quoted ->> 'message_id' ~ '^[0-9]{1,9}$'
           and knowledge.is_forgotten(
               p_workspace_id, p_chat_id, (m.quoted ->> 'message_id')::int,
               case when m.quoted #>> '{from,id}' ~ '^[0-9]{1,18}$' then (m.quoted #>> '{from,id}')::bigint end,
               case when m.quoted ->> 'date' ~ '^[0-9]{1,11}$' then to_timestamp((m.quoted ->> 'date')::bigint) end))
$$;
