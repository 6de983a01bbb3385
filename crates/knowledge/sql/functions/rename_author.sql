-- A file of which a message was forgotten, and which others share as well, is theirs now: its author, and the context
-- of its chunks, was the name of the person or chat who shared it first (p_names).
create or replace function knowledge.rename_author(p_workspace_id uuid, p_document_ids bigint[], p_names text[])
returns void language plpgsql as $$
declare
    document content.documents;
begin
    for document in
        update content.documents d
           set version = d.version + 1, updated_at = platform.now(),
               author = (select knowledge.author_of(p_workspace_id, m) from content.document_sources s
                           join tg.messages m on (m.workspace_id, m.id) = (s.workspace_id, s.message_fk)
                          where (s.workspace_id, s.document_id) = (d.workspace_id, d.id) order by m.date, m.id limit 1)
         where d.workspace_id = p_workspace_id and d.id = any (p_document_ids) and d.doc_type = 'file'
           and d.author = any (p_names)
        returning d.*
    loop
        delete from kg.chunks c where (c.workspace_id, c.document_id) = (p_workspace_id, document.id);
        if document.status = 'done' then
            perform knowledge.ask_for_chunks(p_workspace_id, document, null);
        elsif document.status = 'pending' and document.blob_object_id is not null then
            perform ops.enqueue_job(
                p_workspace_id, 'knowledge.extract', jsonb_build_object('document_id', document.id), null,
                format('document %s version %s', document.id, document.version));
        end if;
    end loop;
end
$$;
