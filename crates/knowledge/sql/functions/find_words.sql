-- The chunks of an audience (p_chats) that have one of p_terms, ranked by the whole question (p_weights): the inner
-- product of both is BM25. Guarantee: nothing of another chat or workspace is looked at by its content.
create or replace function knowledge.find_words(
    p_workspace_id uuid, p_chats bigint[], p_terms int[], p_weights sparsevec, p_limit int
) returns table (chunk_id bigint, score float8) language plpgsql stable
-- The planner takes a look-up in a small table for a scan, and then computes the index expression for every row.
set enable_seqscan = off set plan_cache_mode = force_custom_plan as $$
declare
    wanted constant int[] := array(
        select (hashint8extended(chat, term::bigint) & 2147483647)::int
          from unnest(p_chats) chat, unnest(p_terms) term);
begin
    return query
    select t.chunk_id, -(t.weights <#> p_weights)
      from kg.chunk_terms t
     where knowledge.lookup_terms(t.chat_id, t.weights) && wanted
       and t.workspace_id = p_workspace_id and t.chat_id = any (p_chats)
     order by t.weights <#> p_weights, t.chunk_id desc limit p_limit;
end
$$;
