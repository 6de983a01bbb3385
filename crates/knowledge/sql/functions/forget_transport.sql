-- Retention of what the watchdog saw and of what the bots said: a month. Returns how many rows went.
create or replace function knowledge.forget_transport(p_limit int) returns int language plpgsql as $$
declare
    gone int := 0;
    part int;
begin
    delete from ops.webhook_health_snapshots s
     where (s.workspace_id, s.id) in (select x.workspace_id, x.id from ops.webhook_health_snapshots x
                                       where x.ts < platform.now() - interval '30 days' limit p_limit);
    get diagnostics gone = row_count;
    delete from ops.bot_transport_events s
     where (s.workspace_id, s.id) in (select x.workspace_id, x.id from ops.bot_transport_events x
                                       where x.ts < platform.now() - interval '30 days' limit p_limit);
    get diagnostics part = row_count;
    gone := gone + part;
    delete from knowledge.replies r
     where (r.workspace_id, r.reply_id) in (
           select x.workspace_id, x.reply_id from knowledge.replies x
            where x.created_at < platform.now() - interval '30 days' and x.status in ('sent', 'dead') limit p_limit);
    get diagnostics part = row_count;
    return gone + part;
end
$$;
