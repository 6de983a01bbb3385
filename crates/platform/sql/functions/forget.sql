-- Retention: alerts that ended three months ago. Returns how many rows went; call again while it is not zero.
create or replace function ops.forget(p_limit int) returns int language plpgsql as $$
declare
    gone int;
begin
    delete from ops.alerts a
     where a.ctid = any (array(select x.ctid from ops.alerts x
                                where x.cleared_at < platform.now() - interval '90 days' limit p_limit));
    get diagnostics gone = row_count;
    return gone;
end
$$;
