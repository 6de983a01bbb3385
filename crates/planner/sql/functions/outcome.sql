-- What an action did, as every action returns it. `also` lists what else changed with it, in the same form.
create or replace function planner.outcome(
    p_entity text, p_id bigint, p_title text, p_before jsonb, p_after jsonb, p_xp int default 0,
    p_also jsonb default '[]'
) returns jsonb language sql immutable as $$
    select jsonb_build_object(
        'entity', p_entity, 'id', p_id, 'title', p_title, 'created', p_before is null and p_after is not null,
        'before', p_before, 'after', p_after, 'xp', p_xp, 'also', p_also)
$$;
