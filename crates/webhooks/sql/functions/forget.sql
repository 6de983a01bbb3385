-- Retention, in bounded batches: deliveries of 30 days ago go. What a stopped subscription has collected for a week is
-- dead, and so is what belongs to none any more. The log of attempts goes by partition. Returns how many rows it
-- changed; call again while it is not zero.
create or replace function webhooks.forget(p_limit int default 1000) returns int language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    ended int;
    gone int;
begin
    update ops.webhook_deliveries d
       set status = 'dead', ended_at = now_ts, claim_token = null, claimed_until = null,
           last_error = 'it waited for a week and was not delivered'
     where d.ctid = any (array(select x.ctid from ops.webhook_deliveries x
                                where x.ended_at is null and x.created_at < now_ts - interval '7 days'
                                order by x.created_at limit p_limit for no key update skip locked));
    get diagnostics ended = row_count;
    delete from ops.webhook_deliveries d
     where d.ctid = any (array(select x.ctid from ops.webhook_deliveries x
                                where x.ended_at is not null and x.created_at < now_ts - interval '30 days'
                                order by x.created_at limit p_limit for update skip locked));
    get diagnostics gone = row_count;
    return ended + gone;
end
$$;
