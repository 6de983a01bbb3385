-- Asks again for vectors that are missing: models that are being filled, and documents that have had a chunk without a
-- vector for p_waited, because the job that was to make it gave up or is gone; those are shown as an error of their
-- workspace. Up to p_limit documents; returns how many jobs there are. A job that waits or runs is not added again.
create or replace function knowledge.ask_for_vectors(p_waited interval, p_limit int) returns int language plpgsql as $$
declare
    asked int := 0;
    row record;
begin
    for row in
        select m.workspace_id, m.id from kg.embedding_models m
          join core.workspaces w on w.workspace_id = m.workspace_id and w.status = 'active'
         where m.state = 'filling' order by m.workspace_id, m.id
    loop
        perform ops.enqueue_job(row.workspace_id, 'knowledge.fill_model', jsonb_build_object('model_id', row.id), null,
                                format('model %s', row.id));
        asked := asked + 1;
    end loop;
    for row in
        with lacking as (
            select distinct c.workspace_id, c.document_id from kg.chunks c
             where c.created_at < platform.now() - p_waited
               and not exists (
                   select from kg.chunk_embeddings_1536 e
                     join kg.embedding_models m on (m.workspace_id, m.id) = (e.workspace_id, e.model_id)
                    where (e.workspace_id, e.chunk_id) = (c.workspace_id, c.id) and m.state <> 'retired')
             limit p_limit)
        select d.workspace_id, array_agg(d.id order by d.id) as ids, array_agg(d.version order by d.id) as versions
          from lacking l
          join content.documents d on (d.workspace_id, d.id) = (l.workspace_id, l.document_id)
          join core.workspaces w on w.workspace_id = d.workspace_id and w.status = 'active'
         group by d.workspace_id
    loop
        perform ops.enqueue_job(row.workspace_id, 'knowledge.embed', jsonb_build_object('document_id', d.id), null,
                                format('document %s version %s', d.id, d.version))
           from unnest(row.ids, row.versions) d (id, version);
        perform ops.record_error(
            row.workspace_id, 'knowledge', 'WF41', 'ask_for_vectors', null, null, 503,
            format('%s documents have no vectors, so that they are not found by meaning; they are embedded again',
                   cardinality(row.ids)), true, jsonb_build_object('document_id', row.ids[1]));
        asked := asked + cardinality(row.ids);
    end loop;
    return asked;
end
$$;
