-- How the contracts name a document: its id and status. Both are null for one that was not made.
create or replace function knowledge.told_document(p_workspace_id uuid, p_document_id bigint) returns jsonb
language sql stable as $$
    select jsonb_build_object('document_id', p_document_id, 'status', (
        select d.status from content.documents d where (d.workspace_id, d.id) = (p_workspace_id, p_document_id)))
$$;
