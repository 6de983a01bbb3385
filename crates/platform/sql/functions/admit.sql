-- The gates of the door, asked before the body of a request is read. In this order: the secret leads to an enabled
-- endpoint of p_kind in an active workspace, and, where p_provider is given, to a bot in that messenger; the size is
-- within the limits of the endpoint and of the server (p_bytes_max); the rate of the endpoint has room. The rate is no
-- gate for a bot_webhook: to refuse a provider makes it come again. For the same reason a webhook whose bot was removed
-- is admitted, without a bot_id, at the messenger that its endpoint names or, if it names none, at any. Commits on its
-- own, so that requests to one endpoint do not wait for each other's work.
-- Returns no row for a secret that no endpoint has. Otherwise `verdict` is admitted, too_large, rate_limited or
-- unmeasured: p_bytes is null because the sender does not say the size; only the secret was looked at, and the caller
-- reads up to bytes_max and asks again. Refusals are to be told at most once a second, so that a flood cannot fill a
-- journal: `refused` is their number when it is time.
create or replace function core.admit(
    p_kind text, p_secret_hash text, p_bytes bigint, p_bytes_max int default null, p_provider text default null
) returns table (
    verdict text, workspace_id uuid, endpoint_id uuid, bytes_max int, retry_after_seconds int, refused int,
    bot_id uuid, serves text, is_on boolean
) language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    cost interval;
    burst interval;
    rate core.endpoint_rates;
begin
    select e.workspace_id, e.endpoint_id, least(e.max_payload_bytes, p_bytes_max),
           interval '1 second' / e.ingress_rps::float8, b.bot_id, b.serves, b.enabled
      into workspace_id, endpoint_id, bytes_max, cost, bot_id, serves, is_on
      from core.workspace_endpoints e
      join core.workspaces w on w.workspace_id = e.workspace_id
      left join core.bots b on b.workspace_id = e.workspace_id and b.bot_id = e.bot_id
     where e.kind = p_kind and e.secret_hash = p_secret_hash and e.enabled and w.status = 'active'
       and coalesce(b.provider, case when e.kind = 'bot_webhook' then coalesce(e.meta->>'provider', p_provider) end)
           is not distinct from p_provider;
    if not found then
        return;
    elsif p_bytes is null or p_kind = 'bot_webhook' then
        verdict := case when p_bytes is null then 'unmeasured' when p_bytes > bytes_max then 'too_large'
                        else 'admitted' end;
        return next;
        return;
    end if;

    -- A second's worth may come at once; one request always may.
    burst := greatest(interval '1 second', cost);
    insert into core.endpoint_rates (workspace_id, endpoint_id, busy_until) values (workspace_id, endpoint_id, now_ts)
    on conflict do nothing;
    select * into rate from core.endpoint_rates r
     where r.workspace_id = admit.workspace_id and r.endpoint_id = admit.endpoint_id for no key update;
    rate.busy_until := greatest(rate.busy_until, now_ts) + cost;
    verdict := case when p_bytes > bytes_max then 'too_large'
                    when rate.busy_until > now_ts + burst then 'rate_limited' else 'admitted' end;
    if verdict = 'admitted' then
        update core.endpoint_rates r set busy_until = rate.busy_until
         where r.workspace_id = admit.workspace_id and r.endpoint_id = admit.endpoint_id;
    else
        if verdict = 'rate_limited' then
            retry_after_seconds := greatest(1, ceil(extract(epoch from rate.busy_until - now_ts - burst)));
        end if;
        if rate.told_at is null or rate.told_at <= now_ts - interval '1 second' then
            refused := rate.refused + 1;
        end if;
        update core.endpoint_rates r
           set refused = case when admit.refused is null then r.refused + 1 else 0 end,
               told_at = case when admit.refused is null then r.told_at else now_ts end
         where r.workspace_id = admit.workspace_id and r.endpoint_id = admit.endpoint_id;
    end if;
    return next;
end
$$;
