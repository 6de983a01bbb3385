-- Takes one change back, and records that as a change of its own: it can be taken back too.
-- Guarantee: called for the changes of a batch as plan_undo lists them, it leaves everything as it was before the
-- batch, XP included, if nothing that came later stands in the way (plan_undo).
-- Returns what run_action returns. Raises ZG001.
create or replace function planner.revert_change(p_act planner.acts, p_change_id bigint)
returns jsonb language plpgsql as $$
declare
    change planner.changes;
begin
    select * into change from planner.changes c
     where c.workspace_id = p_act.workspace_id and c.person_id = p_act.person_id and c.change_id = p_change_id;
    case change.entity
        when 'goal' then return planner.revert_goal(p_act, change);
        when 'step' then return planner.revert_step(p_act, change);
        when 'habit' then return planner.revert_habit(p_act, change);
        when 'mark' then return planner.revert_mark(p_act, change);
        when 'order' then return planner.revert_order(p_act, change);
    end case;
end
$$;
