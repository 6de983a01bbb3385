-- Whether a text from outside can be kept: at most so long, not blank, and without characters that nobody sees, save
-- for line breaks and tabs.
create or replace function planner.is_text(p_text text, p_chars_max int)
returns boolean language sql immutable parallel safe as $$
    select p_text ~ '[^[:space:]]' and char_length(p_text) <= p_chars_max
       and translate(p_text, e'\n\t', '') !~ '[[:cntrl:]]'
$$;
