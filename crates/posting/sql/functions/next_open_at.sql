-- The first moment from p_at on whose wall clock in the zone (UTC without one) shows a time inside a window.
-- Guarantee: the clock on the wall decides, also when it is changed. A window that begins in a skipped hour opens when
-- the clock has jumped, one inside a repeated hour opens twice, one that a jump swallows is left out.
-- Two weeks are searched, so that for a valid window the answer is not null even if one week's only window is
-- swallowed. Null without a window, with a malformed one, or without a moment. Raises 22023 for an unknown zone.
create or replace function posting.next_open_at(p_window jsonb, p_timezone text, p_at timestamptz) returns timestamptz
language plpgsql stable parallel safe as $$
declare
    v_zone text := coalesce(p_timezone, 'UTC');
    v_end timestamptz := p_at + interval '360 hours';
    v_from timestamptz := p_at;
    v_until timestamptz;
    v_offset interval;
    v_clock timestamp;
    v_open timestamp;
    v_same bigint;
    v_changed bigint;
    v_middle bigint;
begin
    if p_at is null or not isfinite(p_at) or not posting.is_posting_window(p_window) then
        return null;
    end if;
    -- At most a day at a time, and never across a change of the clock: inside such a piece it simply runs.
    while v_from < v_end loop
        v_until := v_from + interval '24 hours';
        v_clock := v_from at time zone v_zone;
        v_offset := v_clock - v_from at time zone 'UTC';
        if (v_until at time zone v_zone) - (v_until at time zone 'UTC') <> v_offset then
            v_same := floor(extract(epoch from v_from));
            v_changed := ceil(extract(epoch from v_until));
            while v_changed - v_same > 1 loop
                v_middle := (v_same + v_changed) / 2;
                v_until := to_timestamp(v_middle);
                if (v_until at time zone v_zone) - (v_until at time zone 'UTC') = v_offset then
                    v_same := v_middle;
                else
                    v_changed := v_middle;
                end if;
            end loop;
            v_until := to_timestamp(v_changed);
        end if;
        select min(greatest(w.opens, v_clock)) into v_open
          from (select d.day + left(s.span, 5)::time as opens,
                       d.day + right(s.span, 5)::time
                           + case when right(s.span, 5)::time <= left(s.span, 5)::time
                                  then interval '1 day' else interval '0' end as closes
                  from (select v_clock::date + n as day from generate_series(-1, 1) n) d
                 cross join lateral unnest(array['daily', to_char(d.day::timestamp, 'dy')]) k(key)
                 cross join lateral jsonb_array_elements_text(p_window -> k.key) s(span)) w
         where w.closes > v_clock and w.opens < v_clock + (v_until - v_from);
        if v_open is not null then
            return (v_open - v_offset) at time zone 'UTC';
        end if;
        v_from := v_until;
    end loop;
    return null;
end
$$;
