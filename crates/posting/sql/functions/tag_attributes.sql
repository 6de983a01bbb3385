-- The attributes of a start tag in their order, values decoded; one without a value has null.
-- For tags that read_html has found well-formed. A bare value is in lower case, as Telegram has it.
create or replace function posting.tag_attributes(p_tag text) returns table (name text, value text)
language sql immutable parallel safe as $$
    select a.found[1],
           case when a.found[2] ~ '^["'']'
                then (select coalesce(string_agg(coalesce(posting.html_character(p.part[1]), U&'\FFFD'), ''
                                                 order by p.i), '')
                        from regexp_matches(substr(a.found[2], 2, length(a.found[2]) - 2),
                                            '[^&]+|&(?:[A-Za-z]+|#[0-9]+|#x[0-9A-Fa-f]+)?;?', 'g')
                             with ordinality p(part, i))
                else lower(a.found[2]) end
      from regexp_matches(substring(p_tag from '^<[^> \t\r\n\v]*(.*)>$'),
                          '([^=>/"'' \t\r\n\v]+)(?:[ \t\r\n\v]*=[ \t\r\n\v]*("[^"]*"|''[^'']*''|[A-Za-z0-9.-]*))?', 'g')
           with ordinality a(found, i)
     order by a.i
$$;
