-- Tags as they are stored and compared: trimmed, without a leading '#', lower-case, each once, in byte order.
-- Guarantee: never null, no nulls and no empty ones inside; doing it twice changes nothing.
create or replace function posting.canonical_tags(p_tags text[]) returns text[]
language sql immutable parallel safe as $$
    select coalesce(array_agg(distinct tag collate "C" order by tag collate "C"), '{}')
      from (select lower(regexp_replace(raw, '^[#\s\u00a0]+|[\s\u00a0]+$', '', 'g')) as tag
            from unnest(p_tags) raw) tags
     where tag <> ''
$$;
