-- The numbers by which a chunk is found: a hash of its chat and each of its terms, so that looking a word up meets only
-- what its audience may see. The index kg.chunk_terms_lookup is made of it, also by a restore: it calls nothing of
-- ours.
create or replace function knowledge.lookup_terms(p_chat_id bigint, p_weights sparsevec) returns int[]
language sql immutable parallel safe as $$
    select coalesce(array_agg((hashint8extended(p_chat_id, split_part(entry, ':', 1)::bigint) & 2147483647)::int), '{}')
      from unnest(string_to_array(split_part(substr(p_weights::text, 2), '}', 1), ',')) entry
     where entry <> ''
$$;
