-- Keeps posting.channel_counters in step with posting.deliveries, whoever changes them: our functions, or an operator
-- with the runbook's statements. In the order of the channels, so that two statements never wait for each other
-- crosswise.
create or replace function posting.count_deliveries() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' then
        insert into posting.channel_counters as c (workspace_id, channel_id, claimed, sending)
        select o.workspace_id, o.channel_id, -count(*) filter (where o.status = 'claimed'),
               -count(*) filter (where o.status = 'sending')
          from old_rows o where o.status in ('claimed', 'sending')
         group by o.workspace_id, o.channel_id order by o.workspace_id, o.channel_id
        on conflict (workspace_id, channel_id) do update
           set claimed = c.claimed + excluded.claimed, sending = c.sending + excluded.sending;
    else
        insert into posting.channel_counters as c (workspace_id, channel_id, claimed, sending)
        select d.workspace_id, d.channel_id, sum(d.claimed), sum(d.sending)
          from (select n.workspace_id, n.channel_id, (n.status = 'claimed')::int as claimed,
                (n.status = 'sending')::int as sending
                  from new_rows n where n.status in ('claimed', 'sending')
                union all
                select o.workspace_id, o.channel_id, -(o.status = 'claimed')::int, -(o.status = 'sending')::int
                  from old_rows o where o.status in ('claimed', 'sending')) d
         group by d.workspace_id, d.channel_id
        having sum(d.claimed) <> 0 or sum(d.sending) <> 0
         order by d.workspace_id, d.channel_id
        on conflict (workspace_id, channel_id) do update
           set claimed = c.claimed + excluded.claimed, sending = c.sending + excluded.sending;
    end if;
    return null;
end
$$;
create or replace trigger count_updated after update on posting.deliveries
    referencing old table as old_rows new table
        as new_rows for each statement execute function posting.count_deliveries();
create or replace trigger count_deleted after delete on posting.deliveries
    referencing old table as old_rows for each statement execute function posting.count_deliveries();
