-- Notes up to which update a bot's updates are stored: the next poll confirms them. p_update_id is the last one of the
-- batch, also if it is lower than those before; null gives the turn back and changes nothing else. A holder that lost
-- its turn changes nothing.
create or replace function knowledge.end_poll(
    p_workspace_id uuid, p_bot_id uuid, p_token text, p_update_id bigint
) returns void language sql as $$
    update core.bot_transport_state s
       set last_update_id = coalesce(p_update_id, s.last_update_id),
           stored_at = case when p_update_id is null then s.stored_at else platform.now() end,
           poll_token = case when p_update_id is null then null else s.poll_token end
     where (s.workspace_id, s.bot_id, s.poll_token) = (p_workspace_id, p_bot_id, p_token)
$$;
