-- A text that people will see: one line, without characters that nobody sees or that turn the direction of the text,
-- and nothing in it that begins a tag; null if nothing that can be seen is left. At most 2000 characters. The program
-- reads HTML as browsers do before it comes here, and keeps 300 characters as people see them; this holds for every
-- caller.
create or replace function actions.plain_text(p_text text) returns text language sql immutable parallel safe as $$
    select case when regexp_replace(t.text,
               '[ \u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2064\u2800\u3164\ufe00-\ufe0f'
               '\uffa0\U000e0100-\U000e01ef]', '', 'g') <> '' then t.text end
      from (select btrim(regexp_replace(regexp_replace(
               platform.one_line(regexp_replace(left(p_text, 2000), '[\U000e0000-\U000e007f]', '', 'g')),
               '<[A-Za-z/!?][^<>]*>', '', 'g'),
               '<+(?=[A-Za-z/!?])', '', 'g')) as text) t
$$;
