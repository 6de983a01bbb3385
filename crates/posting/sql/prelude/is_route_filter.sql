-- Whether this is a filter that routing understands: an object of include_any, include_all and exclude, each at most
-- 100 canonical tags.
-- Guarantee: never null and never an error, so that a malformed filter is refused instead of matching everything.
create or replace function posting.is_route_filter(p_filter jsonb) returns boolean
language plpgsql immutable parallel safe as $$
declare
    v_key text;
    v_list jsonb;
    v_tags text[];
begin
    if p_filter is null or jsonb_typeof(p_filter) <> 'object' then
        return false;
    end if;
    for v_key, v_list in select e.key, e.value from jsonb_each(p_filter) e loop
        if v_key not in ('include_any', 'include_all', 'exclude') or jsonb_typeof(v_list) <> 'array' then
            return false;
        end if;
        if jsonb_array_length(v_list) > 100
           or exists (select from jsonb_array_elements(v_list) t where jsonb_typeof(t) <> 'string') then
            return false;
        end if;
        v_tags := array(select jsonb_array_elements_text(v_list));
        if not v_tags <@ posting.canonical_tags(v_tags) then
            return false;
        end if;
    end loop;
    return true;
end
$$;
