-- Makes the partitions that the coming days need and drops those that are past their retention.
-- Guarantee: a row is never refused for want of a partition (the default one takes it) and never removed
-- before its table's `keep` is over. Returns what was made and dropped, for the journal.
create or replace function platform.upkeep_journals() returns table (partition_name text, what text)
language plpgsql security definer set search_path = pg_catalog set timezone = 'UTC'
-- Whoever writes to a journal waits behind us while we wait for a long reader: better to come back later.
set lock_timeout = '1s' as $$
declare
    journal record;
    old_partition record;
    period_start timestamptz;
    period_end timestamptz;
    removed_xid xid8;
begin
    -- One process at a time, because the others would only find the work done; and none while somebody installs, who
    -- locks the same tables.
    if not pg_try_advisory_xact_lock(hashtext('beresta.install')) then
        return;
    end if;
    perform set_config('platform.retention', 'on', true);

    for journal in select * from platform.journals loop
        for ahead in 0..2 loop
            period_start := date_trunc(journal.span, platform.now(), 'UTC') + ahead * ('1 ' || journal.span)::interval;
            period_end := date_trunc(journal.span, period_start + ('1 ' || journal.span)::interval * 1.5, 'UTC');
            partition_name := journal.table_name || '_' || to_char(period_start at time zone 'UTC', 'YYYYMMDD');
            continue when to_regclass(partition_name) is not null;
            begin
                execute format('create table %s partition of %s for values from (%L) to (%L)',
                               partition_name, journal.table_name, period_start, period_end);
                what := 'made';
                return next;
            exception when check_violation then
                null; -- the default partition holds rows of this period already and goes on taking them
            end;
        end loop;

        for old_partition in
            select format('%I.%I', n.nspname, c.relname) as name,
                   substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''([^'']+)''\)')::timestamptz as ends_at
              from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_namespace n on n.oid = c.relnamespace
             where i.inhparent = journal.table_name::regclass
               and pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT'
        loop
            continue when old_partition.ends_at > platform.now() - journal.keep;
            if journal.table_name = 'bus.messages' then
                execute format('select xid from %s order by xid desc limit 1', old_partition.name) into removed_xid;
                update bus.forgotten set xid = removed_xid where removed_xid > xid;
            end if;
            execute format('drop table %s', old_partition.name);
            partition_name := old_partition.name;
            what := 'dropped';
            return next;
        end loop;

        if journal.table_name = 'bus.messages' then
            select max(xid::text::numeric)::text::xid8 into removed_xid
              from bus.messages_default where ts < platform.now() - journal.keep;
            update bus.forgotten set xid = removed_xid where removed_xid > xid;
        end if;
        execute format('delete from %s_default where ts < platform.now() - %L::interval', journal.table_name,
                       journal.keep);
    end loop;
end
$$;
