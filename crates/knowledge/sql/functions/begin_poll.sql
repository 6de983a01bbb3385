-- Whether the holder of p_token may ask for the updates of a bot now, and from which on. Guarantee: one holder at a
-- time, until p_lease is over, and only while the bot is polled. Returns the offset, or null. An offset confirms what
-- was stored in the last day; a later poll asks for whatever is not confirmed (0), because after a silent week updates
-- may be numbered anew, and below an old offset they would be dropped.
create or replace function knowledge.begin_poll(
    p_workspace_id uuid, p_bot_id uuid, p_token text, p_lease interval
) returns bigint language sql as $$
    update core.bot_transport_state s set poll_token = p_token, polled_until = platform.now() + p_lease
     where (s.workspace_id, s.bot_id, s.mode) = (p_workspace_id, p_bot_id, 'polling')
       and (s.poll_token is null or s.poll_token = p_token or s.polled_until < platform.now())
    returning case when s.stored_at > platform.now() - interval '1 day' then coalesce(s.last_update_id + 1, 0)
                   else 0 end
$$;
