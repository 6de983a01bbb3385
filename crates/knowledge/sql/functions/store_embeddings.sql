-- WF41: vectors of chunks by a model. Guarantee: the vector of a chunk that says something else by now, or is gone, is
-- not stored. Returns how many were.
create or replace function knowledge.store_embeddings(
    p_workspace_id uuid, p_model_id bigint, p_chunk_ids bigint[], p_md5s text[], p_vectors text[]
) returns int language plpgsql as $$
declare
    stored int;
    searched boolean;
begin
    select m.search_weight > 0 into searched from kg.embedding_models m
     where (m.workspace_id, m.id) = (p_workspace_id, p_model_id) for key share;
    if not found then
        raise exception 'there is no embedding model %', p_model_id using errcode = 'ZK003';
    end if;
    with given as (
        select * from unnest(p_chunk_ids, p_md5s, p_vectors) g (chunk_id, index_md5, vector)
    ), alive as (
        select c.id, g.index_md5, g.vector from given g
          join kg.chunks c on (c.workspace_id, c.id, c.index_md5) = (p_workspace_id, g.chunk_id, g.index_md5)
         order by c.id for share of c
    )
    insert into kg.chunk_embeddings_1536 as e (workspace_id, chunk_id, model_id, embedding, index_md5, is_ranked)
    select p_workspace_id, a.id, p_model_id, a.vector::halfvec(1536), a.index_md5, searched from alive a
    on conflict (workspace_id, chunk_id, model_id) do update
       set embedding = excluded.embedding, index_md5 = excluded.index_md5, is_ranked = excluded.is_ranked,
           created_at = platform.now();
    get diagnostics stored = row_count;
    return stored;
end
$$;
