-- What completing something is worth, in XP. The only place that knows.
create or replace function planner.award_of(p_kind text) returns int language sql immutable parallel safe as $$
    select case p_kind when 'step' then 25 when 'goal' then 100 when 'habit' then 10 end
$$;
