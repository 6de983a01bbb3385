-- Whether this is a pattern that the matcher understands: {"keywords": [...], "mode": "contains"} with at most 100
-- keywords of at most 100 characters, none of them empty once it is folded. An empty list is a pattern too: see
-- bot_rules.capture. Guarantee: never null and never an error, so that a malformed pattern is refused instead of
-- matching everything.
create or replace function shopbot.is_pattern(p_pattern jsonb)
returns boolean language sql immutable parallel safe as $$
    select case
        when jsonb_typeof(p_pattern) is distinct from 'object' then false
        when p_pattern - '{keywords,mode}'::text[] <> '{}' or p_pattern->'mode' is distinct from '"contains"' then false
        when jsonb_typeof(p_pattern->'keywords') is distinct from 'array' then false
        when jsonb_array_length(p_pattern->'keywords') > 100 then false
        else not exists (select from jsonb_array_elements(p_pattern->'keywords') w
                          where jsonb_typeof(w.value) <> 'string' or char_length(w.value #>> '{}') > 100
                             or shopbot.fold_text(w.value #>> '{}') = '') end
$$;
