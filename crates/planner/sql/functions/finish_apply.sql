-- The preview is applied: the last thing before the commit, in the transaction that made its changes.
create or replace function planner.finish_apply(
    p_workspace_id uuid, p_person_id bigint, p_preview_id uuid, p_key text, p_result text, p_trace_id text default null
) returns void language plpgsql as $$
declare
    batch planner.previews;
begin
    update planner.previews p
       set status = 'applied', applied_at = platform.now(), idempotency_key = p_key, result = p_result,
           xp = (select coalesce(sum(e.amount), 0) from planner.xp_entries e
                  where e.workspace_id = p_workspace_id and e.preview_id = p_preview_id),
           last_change_id = (select max(c.change_id) from planner.changes c
                              where c.workspace_id = p_workspace_id and c.preview_id = p_preview_id)
     where p.workspace_id = p_workspace_id and p.person_id = p_person_id and p.preview_id = p_preview_id
    returning * into strict batch;
    if batch.undoes is not null then
        update planner.previews p set undone_by = p_preview_id
         where p.workspace_id = p_workspace_id and p.person_id = p_person_id and p.preview_id = batch.undoes;
    end if;
    perform ops.append_journal(p_workspace_id, 'planner', 'batch_applied', p_preview_id::text, p_trace_id,
        jsonb_build_object('person_id', p_person_id, 'actions', jsonb_array_length(batch.actions), 'xp', batch.xp,
                           'undoes', batch.undoes));
    perform ops.emit_event(p_workspace_id, 'batch.applied', jsonb_strip_nulls(jsonb_build_object(
        'batch_id', p_preview_id, 'person_id', p_person_id, 'actions', jsonb_array_length(batch.actions),
        'xp', batch.xp, 'undoes', batch.undoes, 'trace_id', p_trace_id)));
end
$$;
