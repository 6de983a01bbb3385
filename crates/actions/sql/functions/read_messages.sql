-- What was said in a chat before a number, newest first, with a cursor for the stream from the same snapshot (see
-- read_actions).
create or replace function actions.read_messages(p_workspace_id uuid, p_chat_id text, p_before bigint, p_limit int)
returns jsonb language sql stable as $$
    select jsonb_build_object(
        'cursor', bus.position(),
        'messages', coalesce((
            select jsonb_agg(actions.chat_message(x) order by x.seq desc)
              from (select m.* from actions.messages m
                     where m.workspace_id = p_workspace_id and m.chat_id = p_chat_id
                       and (p_before is null or m.seq < p_before)
                     order by m.seq desc limit p_limit) x), '[]'))
$$;
