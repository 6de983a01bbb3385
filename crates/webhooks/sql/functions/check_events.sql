-- A filter in its normal form: each pattern once, in order.
-- Guarantee: every pattern matches an event that there is; a mistyped filter would be silent for ever. Raises ZW001.
create or replace function webhooks.check_events(p_events text[]) returns text[] language plpgsql stable as $$
declare
    known constant text[] := array(select t.event_type from ops.event_types t order by t.event_type);
    patterns constant text[] := array(select distinct p from unnest(known) k, unnest(ops.event_patterns(k)) p);
    pattern text;
begin
    if coalesce(cardinality(p_events), 0) not between 1 and 50 then
        raise exception 'a webhook asks for 1 to 50 kinds of events; `*` asks for all'
            using errcode = 'ZW001', column = 'events';
    end if;
    foreach pattern in array p_events loop
        if pattern is null or pattern <> all (patterns) then
            raise exception 'there is no event `%`; %', left(pattern, 100),
                platform.near_names(left(pattern, 100), known) using errcode = 'ZW001', column = 'events';
        end if;
    end loop;
    return array(select distinct p from unnest(p_events) p order by p);
end
$$;
