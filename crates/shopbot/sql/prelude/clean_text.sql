-- A text of a customer on one line and without zero-width characters. Of a longer text the first 4000 characters count.
-- Guarantee: never an error; doing it twice changes nothing; null stays null.
create or replace function shopbot.clean_text(p_text text) returns text language sql immutable parallel safe as $$
    select platform.one_line(regexp_replace(normalize(left(p_text, 4000), nfc),
        '[\u00ad\u034f\u180e\u200b-\u200d\u2060-\u2065\ufe00-\ufe0f]', '', 'g'))
$$;
