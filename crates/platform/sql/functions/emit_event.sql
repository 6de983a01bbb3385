-- One event: see ops.emit_events.
create or replace function ops.emit_event(
    p_workspace_id uuid, p_event_type text, p_data jsonb, p_key text default null
) returns int language sql as $$
    select ops.emit_events(p_workspace_id, p_event_type, array[p_data], array[p_key])
$$;
