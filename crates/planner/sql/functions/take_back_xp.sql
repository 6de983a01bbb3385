-- Takes back exactly the amount of an entry, as a new entry of the ledger. What took back can be taken back too: then
-- it is given again. Guarantee: nothing is taken back twice (a unique rule of the ledger).
create or replace function planner.take_back_xp(p_act planner.acts, p_entry_id bigint)
returns planner.xp_entries language sql as $$
    insert into planner.xp_entries (workspace_id, person_id, amount, entity, entity_id, day, takes_back, preview_id,
                                    action_index)
    select e.workspace_id, e.person_id, -e.amount, e.entity, e.entity_id, e.day, e.entry_id, p_act.preview_id,
           p_act.action_index
      from planner.xp_entries e
     where e.workspace_id = p_act.workspace_id and e.person_id = p_act.person_id and e.entry_id = p_entry_id
    returning *
$$;
