-- Puts the steps of a goal into the order that they had before a change. Called when the steps that the same action
-- made are gone and those that it deleted are back, so that the list names all of them.
create or replace function planner.revert_order(p_act planner.acts, p_change planner.changes)
returns jsonb language plpgsql as $$
begin
    perform planner.arrange_steps(p_act.workspace_id, p_change.entity_id,
                                  array(select jsonb_array_elements_text(p_change.before)::bigint));
    perform planner.add_change(p_act, 'order', p_change.entity_id, p_change.after, p_change.before);
    return planner.outcome('order', p_change.entity_id, null, p_change.after, p_change.before);
end
$$;
