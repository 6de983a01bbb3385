-- A group became a supergroup: registration, policy, members and the audience of its documents move along. Messages
-- stay under the old id, because their numbers begin anew in the supergroup; chat_now leads from it to the new one.
-- The caller holds the lock that forgetting takes, so that no document is made under the old id meanwhile. Again:
-- nothing happens.
create or replace function knowledge.migrate_chat(p_workspace_id uuid, p_from bigint, p_to bigint) returns void
language plpgsql as $$
declare
    twins bigint[];
begin
    insert into tg.chats as c (workspace_id, chat_id, type, migrated_to) values (p_workspace_id, p_from, 'group', p_to)
    on conflict (workspace_id, chat_id) do update set migrated_to = excluded.migrated_to
     where c.migrated_to is distinct from excluded.migrated_to;
    with moved as (
        delete from core.tenant_chats c where (c.workspace_id, c.chat_id) = (p_workspace_id, p_from) returning c.*
    )
    insert into core.tenant_chats (workspace_id, chat_id, bot_id, status, registered_by)
    select workspace_id, p_to, bot_id, status, registered_by from moved
    on conflict do nothing;
    with moved as (
        delete from core.chat_policies p where (p.workspace_id, p.chat_id) = (p_workspace_id, p_from) returning p.*
    )
    insert into core.chat_policies
    select workspace_id, p_to, allow_url_fetch, allow_file_download, allow_embedding, retention_days_raw,
           retention_days_documents, updated_at
      from moved
    on conflict do nothing;
    with moved as (
        delete from tg.chat_memberships_current m where (m.workspace_id, m.chat_id) = (p_workspace_id, p_from)
        returning m.*
    )
    insert into tg.chat_memberships_current
    select workspace_id, p_to, tg_user_id, status, is_member, changed_at, proved_at from moved
    on conflict do nothing;

    -- A page or a file that the supergroup has already: its document takes over the messages that share it.
    with pairs as (
        select d.id as old_id, o.id as new_id
          from content.documents d
          join content.documents o on o.workspace_id = d.workspace_id and o.chat_id = p_to
           and (o.url_id = d.url_id or o.file_unique_id = d.file_unique_id)
         where (d.workspace_id, d.chat_id) = (p_workspace_id, p_from)
    ), moved as (
        delete from content.document_sources s using pairs p
         where (s.workspace_id, s.document_id) = (p_workspace_id, p.old_id)
        returning p.new_id, s.message_fk
    ), taken as (
        insert into content.document_sources (workspace_id, document_id, message_fk)
        select p_workspace_id, new_id, message_fk from moved on conflict do nothing
    )
    select array_agg(old_id) into twins from pairs;
    perform knowledge.drop_unreferenced(p_workspace_id, twins);
    update content.documents d set chat_id = p_to where (d.workspace_id, d.chat_id) = (p_workspace_id, p_from);
end
$$;
