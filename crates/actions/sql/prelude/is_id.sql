-- Whether an id from outside can be one: not blank, short enough for every index and topic, and without characters that nobody sees.
create or replace function actions.is_id(p_id text) returns boolean language sql immutable parallel safe as $$
    select p_id ~ '[^[:space:]]' and char_length(p_id) <= 128 and p_id !~ '[[:cntrl:]]'
$$;
