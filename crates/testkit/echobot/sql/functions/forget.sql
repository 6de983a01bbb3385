-- Retention: echoes of a week ago that are ended. Returns how many rows went; call again while it is not zero.
create or replace function echobot.forget(p_limit int) returns int language plpgsql as $$
declare
    gone int;
begin
    delete from echobot.echoes e
     where e.ctid = any (array(select x.ctid from echobot.echoes x
                                where x.status in ('sent', 'dead') and x.created_at < platform.now() - interval '7 days'
                                order by x.created_at limit p_limit for update skip locked));
    get diagnostics gone = row_count;
    return gone;
end
$$;
