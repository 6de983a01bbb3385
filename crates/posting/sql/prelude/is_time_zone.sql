-- Whether this is the IANA name of a time zone that the server knows, such as Europe/Berlin. Abbreviations (CET), which
-- PostgreSQL takes for a fixed offset, and POSIX strings (MSK-3), which it takes for anything, are not.
-- Guarantee: never null and never an error. A name of the usual form costs microseconds, because a check of a row
-- runs at every update; an odd one (Etc/GMT+5, Japan) is looked up in the server's list, which reads its files.
-- Not parallel safe: asking without an error takes a subtransaction.
create or replace function posting.is_time_zone(p_name text) returns boolean
language plpgsql stable as $$
begin
    if p_name in ('UTC', 'Etc/UTC', 'GMT', 'Etc/GMT') then
        return true;
    end if;
    if p_name ~ '^(US|[A-Z][a-z]+)(/[A-Z][a-z]+([A-Z][a-z]+)?([_-][A-Za-z][a-z]*)*)+$' then
        -- Without digits it can be no POSIX string, with a slash no abbreviation: only a name is left.
        perform timezone(p_name, timestamptz 'epoch');
        return true;
    end if;
    return p_name ~ '^[A-Z][A-Za-z0-9_+/-]*$'
       and p_name <> 'Factory'
       and exists (select from pg_timezone_names z where z.name = p_name)
       and not exists (select from pg_timezone_abbrevs a where a.abbrev = upper(p_name));
exception when invalid_parameter_value then
    return false;
end
$$;
