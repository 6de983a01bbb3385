-- The files of a version, and the names by which this bot can ask for them.
create or replace function knowledge.store_attachments(
    p_workspace_id uuid, p_bot_id uuid, p_version_id bigint, p_attachments jsonb
) returns void language sql as $$
    insert into tg.files as f (workspace_id, file_unique_id, kind, mime, file_name, bytes)
    select distinct on (a.file_unique_id) p_workspace_id, a.file_unique_id, a.kind, a.mime, a.file_name, a.size
      from jsonb_to_recordset(p_attachments) as a (kind text, file_unique_id text, mime text, file_name text,
          size bigint)
     order by a.file_unique_id
    on conflict (workspace_id, file_unique_id) do update
       set seen_at = platform.now(), mime = coalesce(f.mime, excluded.mime),
           file_name = coalesce(f.file_name, excluded.file_name), bytes = coalesce(f.bytes, excluded.bytes);

    insert into tg.file_instances (workspace_id, bot_id, file_id, file_unique_id)
    select distinct on (a.file_id) p_workspace_id, p_bot_id, a.file_id, a.file_unique_id
      from jsonb_to_recordset(p_attachments) as a (file_id text, file_unique_id text) order by a.file_id
    on conflict (workspace_id, bot_id, file_id) do update set last_seen_at = platform.now();

    insert into tg.message_attachments (workspace_id, message_version_id, position, kind, file_unique_id, details)
    select p_workspace_id, p_version_id, n, a ->> 'kind', a ->> 'file_unique_id',
           a - array['kind', 'file_id', 'file_unique_id', 'mime', 'file_name', 'size']
      from jsonb_array_elements(p_attachments) with ordinality as l (a, n);
$$;
