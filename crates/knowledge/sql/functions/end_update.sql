-- The end of a job of WF20: notes that a raw update was processed, or why it could not be, which is recorded as an
-- error too. What was forgotten does not stay in the raw update either.
create or replace function knowledge.end_update(p_workspace_id uuid, p_raw_id bigint, p_problem text,
    p_is_forgotten boolean)
returns void language plpgsql as $$
declare
    trace text;
    had_problem text;
begin
    select r.trace_id, r.problem into trace, had_problem from raw.telegram_updates r
     where (r.workspace_id, r.id) = (p_workspace_id, p_raw_id) for no key update;
    update raw.telegram_updates r
       set processed_at = platform.now(), problem = p_problem,
           body = case when p_is_forgotten then '{}'::jsonb
                       else knowledge.kept_of_update(p_workspace_id, r.chat_id, r.body) end
     where (r.workspace_id, r.id) = (p_workspace_id, p_raw_id);
    if found and p_problem is distinct from had_problem and p_problem is not null then
        perform ops.record_error(p_workspace_id, 'knowledge', 'WF20', 'read_update', null, trace, 200, p_problem, false,
                                 jsonb_build_object('raw_id', p_raw_id));
    end if;
end
$$;
