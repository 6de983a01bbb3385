-- The names that there are, for the words of a refusal: those most like what somebody typed first, by the pairs of
-- letters that they share, five at most.
create or replace function platform.near_names(p_typed text, p_known text[]) returns text language sql immutable as $$
    with typed as (
        select distinct substr(lower(p_typed), i, 2) as pair from generate_series(1, greatest(length(p_typed) - 1, 1)) i
    ), nearest as (
        select k.name, 2.0 * (select count(*) from typed t where position(t.pair in lower(k.name)) > 0)
                           / (select count(*) + length(k.name) - 1 from typed) as likeness
          from (select distinct n as name from unnest(p_known) n) k
         order by likeness desc, k.name limit 5
    )
    select case when count(*) = 0 then 'there are none yet'
                when count(*) = (select count(distinct n) from unnest(p_known) n) then 'there are: '
                else 'the nearest are: ' end
           || coalesce(string_agg(n.name, ', ' order by n.likeness desc, n.name), '')
      from nearest n
$$;
