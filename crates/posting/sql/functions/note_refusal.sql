-- Writes down that the door refused requests of an endpoint: an event and a run with their number, once core.admit says
-- that it is time (p_refused; null notes nothing).
create or replace function posting.note_refusal(
    p_workspace_id uuid, p_endpoint_id uuid, p_verdict text, p_bytes bigint, p_refused int
) returns void language sql as $$
    insert into posting.events (workspace_id, ts, action, result, meta)
    select p_workspace_id, platform.now(),
           case p_verdict when 'too_large' then 'ingress_payload_rejected' else 'ingress_rate_limited' end, 'error',
           jsonb_build_object('endpoint_id', p_endpoint_id, 'bytes', p_bytes, 'refused', p_refused)
     where p_refused is not null;
    insert into posting.ingest_runs (workspace_id, kind, endpoint_id, started_at, finished_at, stats_json)
    select p_workspace_id, 'push', p_endpoint_id, platform.now(), platform.now(), jsonb_build_object(
               case p_verdict when 'too_large' then 'payload_rejected' else 'rate_limited' end, p_refused)
     where p_refused is not null;
    select bus.publish(p_workspace_id, 'posting', jsonb_build_object('refused', p_refused)) where p_refused is not null;
$$;
