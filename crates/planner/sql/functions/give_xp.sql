-- Gives what completing something is worth, as a new entry of the ledger.
create or replace function planner.give_xp(p_act planner.acts, p_entity text, p_id bigint, p_day date default null)
returns planner.xp_entries language sql as $$
    insert into planner.xp_entries (workspace_id, person_id, amount, entity, entity_id, day, preview_id, action_index)
    values (p_act.workspace_id, p_act.person_id, planner.award_of(p_entity), p_entity, p_id, p_day, p_act.preview_id,
            p_act.action_index)
    returning *
$$;
