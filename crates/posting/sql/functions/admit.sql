-- The door: finds the endpoint of a secret and lets a request of this size in, or says why not. Short and committed on its
-- own, so that requests to one endpoint do not wait for each other's work. `verdict` is admitted, unknown, too_large,
-- rate_limited. Refusals are events, one a second at most with their number, so that a flood cannot fill the journal.
create or replace function posting.admit(p_kind text, p_secret_hash text, p_bytes bigint)
returns table (verdict text, workspace_id uuid, endpoint_id uuid, retry_after_seconds int, bytes_max int) language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    door core.workspace_endpoints;
    cost interval;
    rate posting.ingress_rates;
    refusal text;
begin
    select e.* into door from core.workspace_endpoints e join core.workspaces w on w.workspace_id = e.workspace_id
     where e.kind = p_kind and e.secret_hash = p_secret_hash and e.enabled and w.status = 'active';
    if not found then
        return query select 'unknown', null::uuid, null::uuid, null::int, null::int;
        return;
    end if;
    cost := interval '1 second' / door.ingress_rps::float8;
    insert into posting.ingress_rates (workspace_id, endpoint_id, busy_until) values (door.workspace_id, door.endpoint_id, now_ts)
    on conflict do nothing;
    select * into rate from posting.ingress_rates r where r.workspace_id = door.workspace_id and r.endpoint_id = door.endpoint_id for no key update;
    -- A second's worth may come at once; one request always may.
    if p_bytes > door.max_payload_bytes then
        refusal := 'too_large';
    elsif greatest(rate.busy_until, now_ts) + cost - now_ts > greatest(interval '1 second', cost) then
        refusal := 'rate_limited';
    end if;
    if refusal is null then
        update posting.ingress_rates r set busy_until = greatest(r.busy_until, now_ts) + cost
         where r.workspace_id = door.workspace_id and r.endpoint_id = door.endpoint_id;
    elsif rate.told_at is null or rate.told_at <= now_ts - interval '1 second' then
        update posting.ingress_rates r set refused = 0, told_at = now_ts where r.workspace_id = door.workspace_id and r.endpoint_id = door.endpoint_id;
        insert into posting.events (workspace_id, ts, action, result, meta)
        values (door.workspace_id, now_ts, case refusal when 'too_large' then 'ingress_payload_rejected' else 'ingress_rate_limited' end, 'error',
                jsonb_build_object('endpoint_id', door.endpoint_id, 'bytes', p_bytes, 'refused', rate.refused + 1));
        insert into posting.ingest_runs (workspace_id, kind, endpoint_id, started_at, finished_at, stats_json)
        values (door.workspace_id, 'push', door.endpoint_id, now_ts, now_ts,
                jsonb_build_object(case refusal when 'too_large' then 'payload_rejected' else 'rate_limited' end, rate.refused + 1));
    else
        update posting.ingress_rates r set refused = r.refused + 1 where r.workspace_id = door.workspace_id and r.endpoint_id = door.endpoint_id;
    end if;
    return query select coalesce(refusal, 'admitted'), door.workspace_id, door.endpoint_id,
        case when refusal = 'rate_limited'
             then greatest(1, ceil(extract(epoch from rate.busy_until + cost - now_ts - greatest(interval '1 second', cost))))::int end,
        door.max_payload_bytes;
end
$$;
