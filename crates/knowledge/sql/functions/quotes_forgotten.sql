-- Whether an update repeats a message that was forgotten: it answers or pins it, or changes its checklist.
create or replace function knowledge.quotes_forgotten(p_workspace_id uuid, p_chat_id bigint, p_body jsonb)
returns boolean language sql stable as $$
    select exists (
        select from jsonb_each(p_body) u
         cross join (values ('{reply_to_message}'::text[]), ('{pinned_message}'),
                            ('{checklist_tasks_done,checklist_message}'), ('{checklist_tasks_added,checklist_message}')
                    ) q (path)
         cross join lateral (select u.value #> q.path as quoted) m
         where jsonb_typeof(m.quoted) = 'object' and m.quoted ->> 'message_id' ~ '^[0-9]{1,9}$'
           and knowledge.is_forgotten(
               p_workspace_id, p_chat_id, (m.quoted ->> 'message_id')::int,
               case when m.quoted #>> '{from,id}' ~ '^[0-9]{1,18}$' then (m.quoted #>> '{from,id}')::bigint end,
               case when m.quoted ->> 'date' ~ '^[0-9]{1,11}$' then to_timestamp((m.quoted ->> 'date')::bigint) end))
$$;
