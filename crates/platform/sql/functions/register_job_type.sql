-- Makes a type of job known. The newest registration rules.
create or replace function ops.register_job_type(p_job_type text, p_attempts_max int, p_lease_ms int) returns void
language sql as $$
    insert into ops.job_types (job_type, attempts_max, lease_ms) values (p_job_type, p_attempts_max, p_lease_ms)
    on conflict (job_type) do update set attempts_max = excluded.attempts_max, lease_ms = excluded.lease_ms
     where (ops.job_types.attempts_max, ops.job_types.lease_ms) is distinct from (excluded.attempts_max,
                                                                                  excluded.lease_ms)
$$;
