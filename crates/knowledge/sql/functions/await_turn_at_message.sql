-- A message and the one that pins it take turns, so that the second sees the first. A pin names an older message: a
-- transaction that takes two turns takes the lower number first.
create or replace function knowledge.await_turn_at_message(p_workspace_id uuid, p_chat_id bigint, p_message_id int)
returns void language sql as $$
    select pg_advisory_xact_lock(hashtextextended(format('%s %s %s', p_workspace_id, p_chat_id, p_message_id), 13))
$$;
