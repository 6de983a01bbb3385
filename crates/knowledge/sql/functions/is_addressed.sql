-- Whether an update asks the bot something: /ask, a mention of the bot, a reply to what it said, or a text in private.
-- Not what bots say, what was said elsewhere and forwarded here, channel posts, and other commands.
create or replace function knowledge.is_addressed(p_workspace_id uuid, p_bot_id uuid, p_facts jsonb) returns boolean
language sql stable as $$
    select coalesce(
        m ->> 'kind' = 'message' and m ->> 'tg_user_id' is not null and nullif(m -> 'forward_origin', 'null') is null
        and not exists (select from jsonb_array_elements(p_facts -> 'users') u
                         where u -> 'tg_user_id' = m -> 'tg_user_id' and u -> 'is_bot' = 'true')
        and case
            when nullif(m -> 'command', 'null') is not null then
                m #>> '{command,name}' = 'ask'
                and (m #>> '{command,bot}' is null or lower(m #>> '{command,bot}') = lower(s.username))
            when p_facts #>> '{chat,type}' = 'private' then m ->> 'text' is not null
            else m -> 'mentions' ? lower(s.username)
                 or exists (select from knowledge.replies r
                             where (r.workspace_id, r.bot_id, r.chat_id) = (p_workspace_id, p_bot_id, c.chat_id)
                               and r.provider_message_id = m ->> 'reply_to_message_id')
            end, false)
      from (select p_facts -> 'message', (p_facts #>> '{chat,chat_id}')::bigint) c (m, chat_id)
      left join core.bot_transport_state s on (s.workspace_id, s.bot_id) = (p_workspace_id, p_bot_id)
$$;
