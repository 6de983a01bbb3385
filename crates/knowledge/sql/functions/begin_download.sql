-- Begins to download a file of Telegram (WF32). Guarantee: a file is downloaded once in a workspace, by one worker at a
-- time (is_busy for the others, until p_lease is over); one that is here has its blob. Returns the bot that can ask for
-- it by p_file_id, and no row for a file that is not known.
create or replace function knowledge.begin_download(
    p_workspace_id uuid, p_file_id text, p_file_unique_id text, p_lease interval
) returns table (
    bot_id uuid, secret_ref text, blob_object_id bigint, bytes bigint, mime text, file_name text, is_busy boolean
) language plpgsql as $$
declare
    file tg.files;
begin
    select * into file from tg.files f
     where (f.workspace_id, f.file_unique_id) = (p_workspace_id, p_file_unique_id) for no key update;
    if not found then
        return;
    end if;
    select b.bot_id, b.secret_ref into bot_id, secret_ref
      from tg.file_instances i join core.bots b on (b.workspace_id, b.bot_id) = (i.workspace_id, i.bot_id)
     where (i.workspace_id, i.file_unique_id, i.file_id) = (p_workspace_id, p_file_unique_id, p_file_id)
     order by b.enabled desc, i.last_seen_at desc limit 1;
    blob_object_id := file.blob_object_id;
    bytes := file.bytes;
    mime := file.mime;
    file_name := file.file_name;
    is_busy := blob_object_id is null and coalesce(file.busy_until > platform.now(), false);
    if blob_object_id is null and not is_busy then
        update tg.files f set busy_until = platform.now() + p_lease
         where (f.workspace_id, f.file_unique_id) = (p_workspace_id, p_file_unique_id);
    end if;
    return next;
end
$$;
