-- A group became a supergroup: registration, policy, members and the audience of its documents move along. Messages
-- stay under the old id, because their numbers begin anew in the supergroup. Again: nothing happens.
create or replace function knowledge.migrate_chat(p_workspace_id uuid, p_from bigint, p_to bigint) returns void
language plpgsql as $$
begin
    update tg.chats set migrated_to = p_to where (workspace_id, chat_id) = (p_workspace_id, p_from);
    insert into core.tenant_chats (workspace_id, chat_id, bot_id, status, registered_by)
    select workspace_id, p_to, bot_id, status, registered_by from core.tenant_chats
     where (workspace_id, chat_id) = (p_workspace_id, p_from)
    on conflict do nothing;
    insert into core.chat_policies
    select workspace_id, p_to, allow_url_fetch, allow_file_download, allow_embedding, retention_days_raw,
           retention_days_documents, updated_at
      from core.chat_policies where (workspace_id, chat_id) = (p_workspace_id, p_from)
    on conflict do nothing;
    insert into tg.chat_memberships_current
    select workspace_id, p_to, tg_user_id, status, is_member, changed_at, proved_at from tg.chat_memberships_current
     where (workspace_id, chat_id) = (p_workspace_id, p_from)
    on conflict do nothing;
    update content.documents d set chat_id = p_to
     where (d.workspace_id, d.chat_id) = (p_workspace_id, p_from)
       and not exists (select from content.documents o
                        where (o.workspace_id, o.chat_id) = (p_workspace_id, p_to)
                          and (o.url_id = d.url_id or o.file_unique_id = d.file_unique_id));
end
$$;
