-- Writes down that a request was accepted before, as an event and a run, and returns what its sender is told: the
-- message of the first copy.
create or replace function posting.tell_duplicate(
    p_first_copy posting.ingress_receipts, p_raw_payload_json jsonb, p_tags text[], p_now timestamptz
) returns jsonb language plpgsql as $$
declare
    run_id constant uuid := coalesce((p_raw_payload_json->>'run_id')::uuid, platform.new_id());
    trace constant text := left(coalesce(p_raw_payload_json->>'trace_id', gen_random_uuid()::text), 100);
begin
    insert into posting.events (workspace_id, message_id, ts, action, result, meta)
    values (p_first_copy.workspace_id, p_first_copy.message_id, p_now, 'ingress_dedup_dropped', 'ok',
            jsonb_strip_nulls(jsonb_build_object('trace_id', trace, 'endpoint_id', p_first_copy.endpoint_id,
                                                 'source_ref', left(p_raw_payload_json->>'source_ref', 512))));
    insert into posting.ingest_runs (workspace_id, run_id, kind, endpoint_id, started_at, finished_at, stats_json)
    values (p_first_copy.workspace_id, run_id, 'push', p_first_copy.endpoint_id, p_now, p_now, '{"dedup_dropped": 1}')
    on conflict do nothing;
    perform bus.publish(p_first_copy.workspace_id, 'posting',
                        jsonb_build_object('message_id', p_first_copy.message_id));
    return jsonb_build_object('outcome', 'duplicate', 'message_id', p_first_copy.message_id, 'run_id', run_id,
                              'trace_id', trace, 'deliveries', '{}'::jsonb, 'tags', to_jsonb(p_tags));
end
$$;
