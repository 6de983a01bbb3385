-- The keywords of a pattern as they are compared: folded, each once, none empty.
-- Guarantee: never null and never an error, whatever the pattern is.
create or replace function shopbot.fold_keywords(p_pattern jsonb)
returns text[] language sql immutable parallel safe as $$
    select coalesce(array_agg(distinct k.word collate "C"), '{}')
      from (select shopbot.fold_text(w.value #>> '{}') as word
              from jsonb_array_elements(case when jsonb_typeof(p_pattern->'keywords') = 'array'
                                             then p_pattern->'keywords' else '[]' end) w) k
     where k.word <> ''
$$;
