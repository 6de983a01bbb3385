-- The length in the units in which the providers count: characters beyond the basic plane, such as most emoji, are two.
create or replace function posting.utf16_length(p_text text) returns int
language sql immutable parallel safe as $$
    select case when octet_length(p_text) < length(p_text) + 3 then length(p_text)
                else length(p_text) + regexp_count(p_text, '[\U00010000-\U0010FFFF]') end
$$;
