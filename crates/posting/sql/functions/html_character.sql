-- The character that a reference such as &lt; or &#x41 stands for; whatever is not one stays as it is written.
-- The rules are Telegram's: four names, numbers of a limited length, the final semicolon may be missing.
-- Null for half of a surrogate pair, which is no character.
create or replace function posting.html_character(p_reference text) returns text
language plpgsql immutable parallel safe as $$
declare
    v_name text := rtrim(p_reference, ';');
    v_code int;
begin
    if v_name !~ '^&#' then
        return case v_name when '&lt' then '<' when '&gt' then '>' when '&amp' then '&' when '&quot' then '"'
               else p_reference end;
    end if;
    v_code := case when v_name ~ '^&#[0-9]{1,7}$' then substr(v_name, 3)::int
                   when v_name ~ '^&#x[0-9A-Fa-f]{1,6}$' then ('x' || lpad(substr(v_name, 4), 8, '0'))::bit(32)::int
                   else 0 end;
    return case when v_code not between 1 and 1114110 then p_reference
                when v_code between 55296 and 57343 then null
                else chr(v_code) end;
end
$$;
