-- Transaction ids begin anew in a cluster that a dump was restored into. Positions of the old one are worth nothing
-- there, so its messages go, and whoever comes with an old position is told of the gap.
create or replace function bus.mend() returns void language plpgsql security definer set search_path = pg_catalog as $$
begin
    if not exists (select from bus.forgotten where xid > pg_current_xact_id()) and
       not exists (select from bus.messages where xid > pg_current_xact_id()) then
        return;
    end if;
    perform set_config('platform.retention', 'on', true);
    delete from bus.messages;
    update bus.forgotten set xid = pg_current_xact_id();
end
$$;
