-- Whether these are windows of the local day in which a channel may post: an object of days (mon … sun, daily), each a
-- list of "HH:MM-HH:MM". An end up to its start is on the next day, 24:00 is the end of this one; a window has a
-- length. Guarantee: never null and never an error; at least one window in all.
create or replace function posting.is_posting_window(p_window jsonb) returns boolean
language plpgsql immutable parallel safe as $$
declare
    v_day text;
    v_list jsonb;
    v_count int := 0;
begin
    if p_window is null or jsonb_typeof(p_window) <> 'object' then
        return false;
    end if;
    for v_day, v_list in select e.key, e.value from jsonb_each(p_window) e loop
        if v_day not in ('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun', 'daily') or jsonb_typeof(v_list) <> 'array'
            then
            return false;
        end if;
        if exists (select from jsonb_array_elements(v_list) w(span)
                    where jsonb_typeof(span) <> 'string'
                       or span #>> '{}' !~ '^([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$'
                       or left(span #>> '{}', 5) = right(span #>> '{}', 5)) then
            return false;
        end if;
        v_count := v_count + jsonb_array_length(v_list);
    end loop;
    return v_count > 0;
end
$$;
