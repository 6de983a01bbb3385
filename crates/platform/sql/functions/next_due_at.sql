-- When there will next be something for a worker of these types: a job, a lease that may run out, or a schedule.
-- An idle worker sleeps until then.
create or replace function ops.next_due_at(p_job_types text[]) returns timestamptz language sql stable as $$
    select min(due) from (
        select (select j.next_run_at from ops.jobs j
                 where j.job_type = t and j.next_run_at < 'infinity' and j.lease_id is null
                 order by j.next_run_at, j.id limit 1) as due
          from unnest(p_job_types) t
        union all
        select min(f.leased_until)
          from unnest(p_job_types) t
         cross join lateral (
               select j.leased_until from ops.jobs j where j.job_type = t and j.next_run_at <= platform.now()
                order by j.next_run_at, j.id limit 20000) f
        union all
        select min(s.next_fire_at) from ops.schedules s where s.job_type = any (p_job_types)
    ) all_due
$$;
