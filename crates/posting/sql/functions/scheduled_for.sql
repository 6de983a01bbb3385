-- The time a post asks for, if it asks for one. Raises ZD001 for what is not a time with a zone.
create or replace function posting.scheduled_for(p_raw jsonb) returns timestamptz language plpgsql stable as $$
declare
    given constant text := p_raw->>'scheduled_for';
begin
    if given is null then
        return null;
    end if;
    if given !~ '^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)$' then
        raise exception '`scheduled_for` is a time with its zone, such as 2026-03-01T09:00:00+03:00'
            using errcode = 'ZD001', column = 'scheduled_for';
    end if;
    return given::timestamptz;
exception when datetime_field_overflow or invalid_datetime_format then
    raise exception '`scheduled_for` is not a time that exists' using errcode = 'ZD001', column = 'scheduled_for';
end
$$;
