-- Carries out one action of a batch, in the transaction of the batch: the rows, the history and the XP. Its parameters
-- were checked, and their `$ref`s are ids by now.
-- Returns {entity, id, title, created, before, after, xp, also}.
-- Raises ZG001 (its message is for the person) for what cannot be done, ZG002 for an action that nobody knows.
create or replace function planner.run_action(
    p_workspace_id uuid, p_person_id bigint, p_preview_id uuid, p_action_index int, p_action text, p_params jsonb
) returns jsonb language plpgsql as $$
declare
    act constant planner.acts := row(p_workspace_id, p_person_id, p_preview_id, p_action_index, p_action);
begin
    case p_action
        when 'goal.create' then return planner.create_goal(act, p_params);
        when 'goal.update' then return planner.update_goal(act, p_params);
        when 'goal.complete' then return planner.complete_goal(act, p_params);
        when 'goal.reopen' then return planner.reopen_goal(act, p_params);
        when 'goal.delete' then return planner.delete_goal(act, p_params);
        when 'step.create' then return planner.create_step(act, p_params);
        when 'step.update' then return planner.update_step(act, p_params);
        when 'step.complete' then return planner.complete_step(act, p_params);
        when 'step.reopen' then return planner.reopen_step(act, p_params);
        when 'step.delete' then return planner.delete_step(act, p_params);
        when 'step.reorder' then return planner.reorder_step(act, p_params);
        when 'habit.create' then return planner.create_habit(act, p_params);
        when 'habit.update' then return planner.update_habit(act, p_params);
        when 'habit.mark_completed' then return planner.mark_habit(act, p_params);
        when 'habit.unmark' then return planner.unmark_habit(act, p_params);
        when 'habit.archive' then return planner.archive_habit(act, p_params);
        else
            if p_action ~ '^(undo|redo) ' then
                return planner.undo_action(act, p_params);
            end if;
            raise exception 'there is no action %', p_action using errcode = 'ZG002';
    end case;
end
$$;
