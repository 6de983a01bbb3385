-- WF99 with a job: the job is failed, with a run that says why. A job that is not there any more is left alone.
create or replace function knowledge.fail_job(p_workspace_id uuid, p_job_id bigint, p_error jsonb) returns boolean
language plpgsql as $$
declare
    job ops.jobs;
begin
    update ops.jobs set status = 'running', attempts = attempts + 1, lease_id = gen_random_uuid(),
        started_at = platform.now(),
           leased_until = platform.now()
     where (workspace_id, id, status) = (p_workspace_id, p_job_id, 'queued');
    update ops.jobs set status = 'failed', lease_id = null, leased_until = null, next_run_at = 'infinity',
        last_error = p_error
     where (workspace_id, id, status) = (p_workspace_id, p_job_id, 'running') returning * into job;
    if not found then
        return false;
    end if;
    insert into ops.job_runs (workspace_id, job_id, attempt, job_type, outcome, worker_id, trace_id, started_at, error)
    values (p_workspace_id, p_job_id, job.attempts, job.job_type, 'failed', 'WF99', job.trace_id, job.started_at,
        p_error);
    perform ops.tell_jobs(array[p_workspace_id]);
    return true;
end
$$;
