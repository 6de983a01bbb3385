-- Whether a text from outside can be kept and stands on one line: a diff that a person agrees to has a line for each
-- thing.
create or replace function planner.is_line(p_text text, p_chars_max int)
returns boolean language sql immutable parallel safe as $$
    select p_text ~ '[^[:space:]]' and char_length(p_text) <= p_chars_max and p_text !~ '[[:cntrl:]\u2028\u2029]'
$$;
