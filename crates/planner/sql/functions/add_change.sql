-- Records what an action did to one thing: the whole row before and after.
create or replace function planner.add_change(
    p_act planner.acts, p_entity text, p_id bigint, p_before jsonb, p_after jsonb, p_day date default null
) returns void language sql as $$
    insert into planner.changes (workspace_id, preview_id, action_index, person_id, action, entity, entity_id, day,
                                 before, after)
    values (p_act.workspace_id, p_act.preview_id, p_act.action_index, p_act.person_id, p_act.action, p_entity, p_id,
            p_day, p_before, p_after)
$$;
