-- Makes a model that is complete the active one. Guarantee: search never sees one that lacks a vector; the one before
-- is retired in the same transaction, and its vectors go. Returns whether the model is active now.
create or replace function knowledge.switch_model(p_workspace_id uuid, p_model_id bigint) returns boolean
language plpgsql as $$
begin
    perform pg_advisory_xact_lock(hashtextextended(p_workspace_id::text, 11));
    if exists (select from knowledge.chunks_to_embed(p_workspace_id, null, p_model_id, 1)) then
        return false;
    end if;
    update kg.embedding_models m set state = 'retired'
     where (m.workspace_id, m.state) = (p_workspace_id, 'active') and m.id <> p_model_id;
    update kg.embedding_models m set state = 'active', switched_at = platform.now()
     where (m.workspace_id, m.id) = (p_workspace_id, p_model_id) and m.state = 'filling';
    if found then
        delete from kg.chunk_embeddings_1536 e using kg.embedding_models m
         where (m.workspace_id, m.state) = (p_workspace_id, 'retired')
           and (e.workspace_id, e.model_id) = (m.workspace_id, m.id);
        perform ops.append_journal(p_workspace_id, 'knowledge', 'model_switched', p_model_id::text);
    end if;
    return true;
end
$$;
