-- A text on one line: control characters and those that turn the direction of text are gone, a run of white space of
-- any kind is one space, none stands at either end. What is invisible and belongs inside words and emoji stays.
-- Guarantee: never an error, the same in every locale; doing it twice changes nothing; null stays null.
create or replace function platform.one_line(p_text text) returns text language sql immutable parallel safe as $$
    select btrim(regexp_replace(regexp_replace(p_text,
        '[\u0001-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ufeff]',
        '', 'g'), '[\s\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+', ' ', 'g'))
$$;
