-- Keeps posting.channel_counters in step when a delivery begins its life claimed or being sent, which only a restore or
-- an operator does:
-- enqueue pays nothing for it, as it would for a transition table.
create or replace function posting.count_inserted() returns trigger language plpgsql as $$
begin
    insert into posting.channel_counters as c (workspace_id, channel_id, claimed, sending)
    values (new.workspace_id, new.channel_id, (new.status = 'claimed')::int, (new.status = 'sending')::int)
    on conflict (workspace_id, channel_id) do update
       set claimed = c.claimed + excluded.claimed, sending = c.sending + excluded.sending;
    return null;
end
$$;
create or replace trigger count_inserted after insert on posting.deliveries
    for each row when (new.status in ('claimed', 'sending')) execute function posting.count_inserted();
