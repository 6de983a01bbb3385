-- WF32: what came of one attempt at a file, in one transaction: its path, the blob, the document of the audience and
-- its job. p_file is {bot_id, file_id, file_unique_id, tg_file_path, error, is_final}; p_blob is null if the file was
-- here already or could not be had. Returns blob_object_id, document_id, file_unique_id. Raises ZK003 if the file went
-- meanwhile, ZK004 for an audience that cannot be.
create or replace function knowledge.store_download(
    p_workspace_id uuid, p_ctx jsonb, p_file jsonb, p_blob jsonb, p_trace_id text
) returns jsonb language plpgsql as $$
declare
    unique_id constant text := p_file ->> 'file_unique_id';
    blob_id bigint;
    file tg.files;
    document_id bigint;
begin
    perform knowledge.hold_message(p_workspace_id, p_ctx);
    perform from tg.files f where (f.workspace_id, f.file_unique_id) = (p_workspace_id, unique_id) for update;
    if p_blob is not null then
        blob_id := knowledge.put_blob(p_workspace_id, p_blob);
    end if;
    update tg.files f
       set busy_until = null, blob_object_id = coalesce(blob_id, f.blob_object_id),
           bytes = coalesce((p_blob ->> 'bytes')::bigint, f.bytes)
     where (f.workspace_id, f.file_unique_id) = (p_workspace_id, unique_id) returning * into file;
    if not found then
        raise exception 'there is no file %', unique_id using errcode = 'ZK003';
    end if;
    update tg.file_instances i
       set tg_file_path = coalesce(p_file ->> 'tg_file_path', i.tg_file_path), last_seen_at = platform.now()
     where (i.workspace_id, i.bot_id, i.file_id) = (p_workspace_id, (p_file ->> 'bot_id')::uuid, p_file ->> 'file_id');
    document_id := knowledge.put_document(
        p_workspace_id, p_ctx, null, unique_id, file.blob_object_id, file.file_name, p_file ->> 'error',
        coalesce((p_file ->> 'is_final')::boolean, false), p_trace_id);
    return jsonb_build_object('blob_object_id', file.blob_object_id, 'file_unique_id', unique_id)
        || knowledge.told_document(p_workspace_id, document_id);
end
$$;
