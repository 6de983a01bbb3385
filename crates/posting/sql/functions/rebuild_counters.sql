-- Writes posting.channel_counters anew, and empties the tables of heads and rates, when dead versions have piled up in
-- them, as they do while a transaction that runs for minutes keeps vacuum from clearing them: looking up a row then
-- steps over all of them. Gives up at once when the table is being read right now; the next look tries again. Returns
-- whether it did.
create or replace function posting.rebuild_counters() returns boolean language plpgsql
set lock_timeout = '100ms' as $$
declare
    live_rows bigint;
    kept posting.channel_counters[];
begin
    -- What these two know is found again at once: nobody is refused, and the queues are looked at from their beginning.
    if pg_relation_size('posting.queue_heads') > 1048576 then
        truncate posting.queue_heads;
    end if;
    -- The clock was set back: what is made now would lie before these.
    update posting.queue_heads h set head_at = '-infinity', next_at = null, next_xid = null, drops = h.drops + 1
     where h.head_at > clock_timestamp() or h.next_at > clock_timestamp();
    perform core.trim_endpoint_rates();
    if pg_relation_size('posting.channel_counters') < 1048576 then
        return false;
    end if;
    lock table posting.channel_counters in access exclusive mode;
    select count(*) into live_rows from posting.channel_counters;
    -- A thousand channels have a right to their space.
    if pg_relation_size('posting.channel_counters') < live_rows * 2048 then
        return false;
    end if;
    kept := array(select c from posting.channel_counters c where c.claimed <> 0 or c.sending <> 0);
    truncate posting.channel_counters;
    insert into posting.channel_counters select (k).* from unnest(kept) k;
    return true;
exception when lock_not_available then
    return false;
end
$$;
