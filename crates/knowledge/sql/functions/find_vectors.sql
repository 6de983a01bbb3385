-- The chunks of an audience (p_chats) whose vectors are nearest to p_vector. While the audience has few rows each of
-- them is compared; of many the index finds candidates, and if too few of those are of the audience, each is compared
-- after all. A count decides, not the planner.
create or replace function knowledge.find_vectors(
    p_workspace_id uuid, p_chats bigint[], p_model_id bigint, p_vector halfvec, p_limit int
) returns table (chunk_id bigint, score float8) language plpgsql stable set plan_cache_mode = force_custom_plan as $$
declare
    exact_max constant int := 20000;
    rows bigint;
    ids bigint[];
    scores float8[];
begin
    select count(*) into rows from (
        select from kg.chunk_terms t
         where t.workspace_id = p_workspace_id and t.chat_id = any (p_chats) limit exact_max + 1) few;
    if rows > exact_max then
        -- The index answers in about the right order (iterative_scan): the second sort makes it exact.
        select array_agg(near.id order by near.near_score desc, near.id desc),
               array_agg(near.near_score order by near.near_score desc, near.id desc) into ids, scores
          from (
            select e.chunk_id as id, -(e.embedding <#> p_vector) as near_score
              from kg.chunk_embeddings_1536 e
              join kg.chunk_terms t on (t.workspace_id, t.chunk_id) = (e.workspace_id, e.chunk_id)
             where e.is_ranked and e.workspace_id = p_workspace_id and e.model_id = p_model_id
               and t.chat_id = any (p_chats)
             order by e.embedding <#> p_vector limit p_limit) near;
    end if;
    if coalesce(cardinality(ids), 0) < p_limit then
        with exact as materialized (
            select e.chunk_id as id, -(e.embedding <#> p_vector) as near_score
              from kg.chunk_terms t
              join kg.chunk_embeddings_1536 e
                   on (e.workspace_id, e.chunk_id, e.model_id) = (t.workspace_id, t.chunk_id, p_model_id)
             where t.workspace_id = p_workspace_id and t.chat_id = any (p_chats)
        ), best as (
            select * from exact order by near_score desc, id desc limit p_limit
        )
        select array_agg(b.id order by b.near_score desc, b.id desc),
               array_agg(b.near_score order by b.near_score desc, b.id desc)
          into ids, scores from best b;
    end if;
    return query select * from unnest(ids, scores);
end
$$;
