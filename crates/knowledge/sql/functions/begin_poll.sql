-- Whether the holder of p_token may ask for the updates of a bot now, and from which on. Guarantee: one holder at a
-- time, until p_lease is over, and only while the bot is polled. Returns the offset, or null.
create or replace function knowledge.begin_poll(
    p_workspace_id uuid, p_bot_id uuid, p_token text, p_lease interval
) returns bigint language sql as $$
    update core.bot_transport_state s set poll_token = p_token, polled_until = platform.now() + p_lease
     where (s.workspace_id, s.bot_id, s.mode) = (p_workspace_id, p_bot_id, 'polling')
       and (s.poll_token is null or s.poll_token = p_token or s.polled_until < platform.now())
    returning coalesce(s.last_update_id + 1, 0)
$$;
