-- An operator asks for a failed job again: it gets a fresh set of attempts. Says whether it was a failed job.
create or replace function ops.retry_job(p_workspace_id uuid, p_id bigint, p_operator text, p_reason text)
returns boolean
language plpgsql as $$
begin
    update ops.jobs set status = 'queued', forgiven = attempts, next_run_at = platform.now()
     where workspace_id = p_workspace_id and id = p_id and status = 'failed';
    if not found then
        return false;
    end if;
    perform ops.append_journal(p_workspace_id, 'jobs', 'job_retried', p_id::text, null,
                               jsonb_build_object('operator', p_operator, 'reason', p_reason));
    return true;
end
$$;
