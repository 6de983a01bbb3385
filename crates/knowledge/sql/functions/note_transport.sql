-- WF11: what the watchdog saw of a bot and did, in one transaction: the snapshot, the events and the state.
-- p_seen is {url, pending, last_error, last_error_at, verdict}, p_state {mode, username, failures, last_error},
-- p_events [{event, details}]. Returns snapshot_id, event_ids, mode, verdict.
create or replace function knowledge.note_transport(
    p_workspace_id uuid, p_bot_id uuid, p_seen jsonb, p_state jsonb, p_events jsonb
) returns jsonb language plpgsql as $$
declare
    snapshot_id bigint;
    event_ids bigint[];
begin
    insert into ops.webhook_health_snapshots (workspace_id, bot_id, url, pending, last_error, last_error_at, verdict)
    values (p_workspace_id, p_bot_id, left(p_seen ->> 'url', 2000), (p_seen ->> 'pending')::int,
            left(p_seen ->> 'last_error', 500), (p_seen ->> 'last_error_at')::timestamptz, p_seen ->> 'verdict')
    returning id into snapshot_id;
    with made as (
        insert into ops.bot_transport_events (workspace_id, bot_id, event, details)
        select p_workspace_id, p_bot_id, e ->> 'event', coalesce(e -> 'details', '{}')
          from jsonb_array_elements(p_events) with ordinality as l (e, n) order by n
        returning id
    )
    select array_agg(id order by id) into event_ids from made;
    insert into core.bot_transport_state as s
        (workspace_id, bot_id, mode, username, pending, failures, checked_at, last_error)
    values (p_workspace_id, p_bot_id, p_state ->> 'mode', p_state ->> 'username', (p_seen ->> 'pending')::int,
            coalesce((p_state ->> 'failures')::int, 0), platform.now(), p_state ->> 'last_error')
    on conflict (workspace_id, bot_id) do update
       set mode = excluded.mode, username = coalesce(excluded.username, s.username), pending = excluded.pending,
           failures = excluded.failures, checked_at = excluded.checked_at, last_error = excluded.last_error,
           since = case when s.mode = excluded.mode then s.since else platform.now() end;
    update core.bots set transport = p_state ->> 'mode'
     where (workspace_id, bot_id) = (p_workspace_id, p_bot_id) and transport <> p_state ->> 'mode';
    perform bus.publish(p_workspace_id, 'knowledge', jsonb_build_object('type', 'transport'));
    return jsonb_build_object('snapshot_id', snapshot_id, 'event_ids', coalesce(to_jsonb(event_ids), '[]'),
                              'mode', p_state ->> 'mode', 'verdict', p_seen ->> 'verdict');
end
$$;
