-- The model of the configured embedder, in a workspace. The first one is active at once; a later one is filled beside
-- it, by a job, and takes its place when it is complete (switch_model). Returns its id and state.
create or replace function knowledge.put_model(
    p_workspace_id uuid, p_provider text, p_model text, p_document_task text, p_query_task text
) returns table (model_id bigint, state text) language plpgsql as $$
begin
    select m.id, m.state into model_id, state from kg.embedding_models m
     where (m.workspace_id, m.provider, m.model) = (p_workspace_id, p_provider, p_model);
    if found and state <> 'retired' then
        return next;
        return;
    end if;
    perform pg_advisory_xact_lock(hashtextextended(p_workspace_id::text, 11));
    insert into kg.embedding_models as m
        (workspace_id, provider, model, document_task, query_task, search_weight, state)
    select p_workspace_id, p_provider, p_model, p_document_task, p_query_task,
           -- What eval shows of hashed words beside BM25; a learned model is worth about as much as the words.
           case p_provider when 'local' then 0 else 0.5 end,
           case when exists (select from kg.embedding_models a
                              where (a.workspace_id, a.state) = (p_workspace_id, 'active'))
                then 'filling' else 'active' end
    on conflict on constraint model_is_there_once do update
       set state = case when m.state = 'retired' then 'filling' else m.state end
    returning m.id, m.state into model_id, state;
    if state = 'filling' then
        perform ops.enqueue_job(p_workspace_id, 'knowledge.fill_model', jsonb_build_object('model_id', model_id), null,
                                format('model %s', model_id));
    end if;
    return next;
end
$$;
