-- Whether this is a regular expression that can check what a customer wrote: it compiles, is short, and has no
-- back-references, whose cost has no bound.
-- Guarantee: never null and never an error.
create or replace function shopbot.is_check_pattern(p_pattern text)
returns boolean language plpgsql immutable parallel safe as $$
begin
    if p_pattern is null or char_length(p_pattern) not between 1 and 200 or p_pattern ~ '\\[1-9]' then
        return false;
    end if;
    perform '' ~ p_pattern;
    return true;
exception when invalid_regular_expression then
    return false;
end
$$;
