-- Enqueues one job for each schedule that is due and moves it to its next time after now.
-- Guarantees: several processes, one firing; a missed time is made up for once, not once per missed interval;
-- while a firing is still queued, the next one is not piled on top of it; one that has failed is tried again.
create or replace function ops.fire_schedules() returns int language plpgsql as $$
declare
    fired int;
begin
    with due as (
        select s.workspace_id, s.name from ops.schedules s
         where s.next_fire_at <= platform.now()
         order by s.workspace_id, s.name
           for update skip locked
    ), moved as (
        update ops.schedules s
           set next_fire_at = s.next_fire_at + s.every
               * (floor(extract(epoch from platform.now() - s.next_fire_at) / extract(epoch from s.every)) + 1)
          from due
         where s.workspace_id = due.workspace_id and s.name = due.name
        returning s.workspace_id, s.name, s.job_type, s.payload
    )
    insert into ops.jobs as j (workspace_id, job_type, payload, next_run_at, dedup_key)
    select m.workspace_id, m.job_type, m.payload, platform.now(), 'schedule:' || m.name from moved m
    on conflict (workspace_id, job_type, dedup_key) where dedup_key is not null do update
       set status = 'queued', forgiven = j.attempts, payload = excluded.payload, next_run_at = excluded.next_run_at
     where j.status = 'failed';
    get diagnostics fired = row_count;
    return fired;
end
$$;
