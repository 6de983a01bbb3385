-- Takes back everything that one action of an applied batch did. The parameters are {change_ids, touches}: the changes
-- in the order in which they go back, and the things that they are about, by which a stale preview finds its action.
-- Returns what run_action returns, about the thing that the action named; what changed with it is in `also`.
-- Raises ZG001.
create or replace function planner.undo_action(p_act planner.acts, p_params jsonb) returns jsonb language plpgsql as $$
declare
    kind constant text := split_part(split_part(p_act.action, ' ', 2), '.', 1);
    step_back jsonb;
    main jsonb;
    also jsonb := '[]';
    xp int := 0;
    id bigint;
begin
    for id in select jsonb_array_elements_text(p_params->'change_ids')::bigint loop
        step_back := planner.revert_change(p_act, id);
        xp := xp + (step_back->>'xp')::int;
        if main is null and step_back->>'entity' = kind then
            main := step_back;
        else
            also := also || step_back;
        end if;
    end loop;
    return main || jsonb_build_object('xp', xp, 'also', also);
end
$$;
