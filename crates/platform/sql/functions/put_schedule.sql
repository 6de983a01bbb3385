-- Declares a recurring job. A changed interval counts from now; an unchanged one keeps its place.
create or replace function ops.put_schedule(
    p_workspace_id uuid, p_name text, p_job_type text, p_payload jsonb, p_every interval
)
returns void language sql as $$
    insert into ops.schedules (workspace_id, name, job_type, payload, every, next_fire_at)
    values (p_workspace_id, p_name, p_job_type, p_payload, p_every, platform.now() + p_every)
    on conflict (workspace_id, name) do update
       set job_type = excluded.job_type, payload = excluded.payload, every = excluded.every,
           next_fire_at = case when ops.schedules.every = excluded.every then ops.schedules.next_fire_at
                               else excluded.next_fire_at end
     where (ops.schedules.job_type, ops.schedules.payload, ops.schedules.every)
           is distinct from (excluded.job_type, excluded.payload, excluded.every)
$$;
