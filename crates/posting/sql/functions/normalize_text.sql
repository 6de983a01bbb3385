-- A text as it is stored, compared and sent: line ends of one kind, no space around them or around the text, one space
-- where there were several (tabs and no-break spaces count), at most one empty line. What <pre> (HTML) or ```
-- (Markdown) encloses keeps its spacing.
-- Guarantee: nothing but white space changes; doing it twice changes nothing; a text of nothing is null.
create or replace function posting.normalize_text(p_text text, p_parse_mode text) returns text
language plpgsql immutable parallel safe as $$
declare
    v_text text := regexp_replace(p_text, '\r\n?', E'\n', 'g');
    -- {1,1}? asks for the shortest match as a whole.
    v_fence text := case lower(p_parse_mode)
        when 'html' then '(?:<pre(?:\s[^<>]*)?>.*</pre\s*>){1,1}?'
        when 'markdown' then '(?:```.*```){1,1}?' end;
    v_outside text[] := array[v_text];
    v_inside text[] := '{}';
begin
    if v_text ~* v_fence then
        v_outside := regexp_split_to_array(v_text, v_fence, 'i');
        v_inside := array(select m[1] from regexp_matches(v_text, v_fence, 'gi') with ordinality r(m, i) order by i);
    end if;
    select string_agg(
               regexp_replace(
                   regexp_replace(
                       regexp_replace(o.piece, '[ \t\u00a0]+', ' ', 'g'),
                       ' ?\n ?', E'\n', 'g'),
                   '\n{3,}', E'\n\n', 'g')
               || coalesce(v_inside[o.i], ''), '' order by o.i)
      into v_text
      from unnest(v_outside) with ordinality o(piece, i);
    return nullif(regexp_replace(v_text, '^\s+|\s+$', '', 'g'), '');
end
$$;
