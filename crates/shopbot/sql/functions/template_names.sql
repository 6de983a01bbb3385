-- What stands between {{ and }} in a template, in order. What is opened and never closed is a name that nobody can
-- know.
create or replace function shopbot.template_names(p_template text)
returns text[] language sql immutable parallel safe as $$
    select coalesce(array_agg(case when position('}}' in t.piece) > 0 then btrim(split_part(t.piece, '}}', 1))
                              else '{{' || t.piece end
                              order by t.n), '{}')
      from string_to_table(p_template, '{{') with ordinality t (piece, n)
     where t.n > 1
$$;
