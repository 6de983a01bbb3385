-- The chunks that a model has no vector of, of one document or, given null, of all, with what is to be embedded.
create or replace function knowledge.chunks_to_embed(
    p_workspace_id uuid, p_document_id bigint, p_model_id bigint, p_limit int
) returns table (chunk_id bigint, content text, index_md5 text) language sql stable as $$
    select c.id, case when c.context = '' then c.text else c.context || E'\n' || c.text end, c.index_md5
      from kg.chunks c
     where c.workspace_id = p_workspace_id and (p_document_id is null or c.document_id = p_document_id)
       and not exists (select from kg.chunk_embeddings_1536 e
                        where (e.workspace_id, e.chunk_id, e.model_id, e.index_md5)
                            = (c.workspace_id, c.id, p_model_id, c.index_md5))
     order by c.id limit p_limit
$$;
