-- Whether an id from outside can be one: not blank, short enough for every index and topic, without characters that
-- nobody sees or that turn the direction of text, and not one that addresses swallow. `contract::is_id` says the same
-- in Rust, for reads that find nothing.
create or replace function actions.is_id(p_id text) returns boolean language sql immutable parallel safe as $$
    select p_id ~ '[^[:space:]]' and char_length(p_id) <= 128
       and p_id !~ '[[:cntrl:]\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]' and p_id not in ('.', '..')
$$;
