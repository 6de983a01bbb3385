-- A text without what nobody sees: control and zero-width characters are gone, a run of white space is one space, none stands
-- at either end. Of a longer text the first 4000 characters count: no messenger lets a customer write more.
-- Guarantee: never an error; doing it twice changes nothing; null stays null.
create or replace function shopbot.clean_text(p_text text) returns text language sql immutable parallel safe as $$
    select btrim(regexp_replace(regexp_replace(normalize(left(p_text, 4000), nfc),
        '[\u0001-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]',
        '', 'g'), '[\s\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+', ' ', 'g'))
$$;
