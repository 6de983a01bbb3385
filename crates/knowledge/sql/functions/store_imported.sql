-- Stores a message of an export, as store_facts does one of an update, in one transaction. p_blob is its file, as
-- put_blob takes it. Guarantees: what an update brought is never replaced by something older (messages, names, topics);
-- what was forgotten does not come back; commands are not obeyed; nobody becomes a member, because an export does not
-- tell who was removed since, and a member may ask. Returns the word of judge_import.
create or replace function knowledge.store_imported(
    p_workspace_id uuid, p_bot_id uuid, p_facts jsonb, p_payload jsonb, p_blob jsonb
) returns text language plpgsql as $$
declare
    chat constant jsonb := p_facts -> 'chat';
    of_chat constant bigint := (chat ->> 'chat_id')::bigint;
    message jsonb := p_facts -> 'message';
    file constant jsonb := message -> 'attachments' -> 0;
    pinned constant int := (p_facts ->> 'pinned_message_id')::int;
    verdict text;
    audience record;
begin
    -- Nothing is stored while something is forgotten: forgetting has ended, or begins after and sees the message.
    perform pg_advisory_xact_lock_shared(hashtextextended(p_workspace_id::text, 12));
    verdict := knowledge.judge_import(p_workspace_id, of_chat, chat ->> 'type', message);
    if verdict not in ('new', 'newer') then
        return verdict;
    end if;
    select * into audience
      from knowledge.audience_of(p_workspace_id, of_chat, chat ->> 'type', (message ->> 'tg_user_id')::bigint);
    insert into tg.chats (workspace_id, chat_id, type, title, is_forum)
    values (p_workspace_id, of_chat, chat ->> 'type', chat ->> 'title', (chat ->> 'is_forum')::boolean)
    on conflict do nothing;
    insert into tg.users (workspace_id, tg_user_id, first_name)
    select p_workspace_id, u.tg_user_id, u.first_name
      from jsonb_to_recordset(p_facts -> 'users') as u (tg_user_id bigint, first_name text)
     order by u.tg_user_id
    on conflict do nothing;
    insert into tg.chat_member_events (workspace_id, chat_id, tg_user_id, status, is_member, at, source)
    select p_workspace_id, of_chat, m.tg_user_id, m.status, m.is_member, m.at, m.source
      from jsonb_to_recordset(p_facts -> 'members')
           as m (tg_user_id bigint, status text, is_member boolean, at timestamptz, source text)
     where m.source = 'service'
    on conflict on constraint member_event_is_there_once do nothing;
    perform knowledge.store_members(p_workspace_id, of_chat, (
        select coalesce(jsonb_agg(m), '[]') from jsonb_array_elements(p_facts -> 'members') m
         where m ->> 'is_member' = 'false'));
    if nullif(p_facts -> 'topic', 'null') is not null then
        insert into tg.topics (workspace_id, chat_id, thread_id, name)
        values (p_workspace_id, of_chat, (p_facts #>> '{topic,thread_id}')::int, p_facts #>> '{topic,name}')
        on conflict do nothing;
    end if;
    if pinned is not null then
        -- Takes no turn at it: a batch has the turns of messages with higher numbers already.
        update tg.messages set is_pinned = true
         where (workspace_id, chat_id, message_id) = (p_workspace_id, of_chat, pinned);
        message := message || jsonb_build_object('pins_message_id', pinned);
    end if;
    if message ->> 'thread_id' is null then
        -- The beginning of the topic, or what it answers to, came with an update or another export.
        message := message || jsonb_build_object('thread_id', coalesce(
            (select t.thread_id from tg.topics t
              where (t.workspace_id, t.chat_id, t.thread_id) =
                    (p_workspace_id, of_chat, (message ->> 'reply_to_message_id')::int)),
            (select m.thread_id from tg.messages m
              where (m.workspace_id, m.chat_id, m.message_id) =
                    (p_workspace_id, of_chat, (message ->> 'reply_to_message_id')::int))));
    end if;
    if p_blob is not null then
        insert into tg.files as f (workspace_id, file_unique_id, kind, mime, file_name, bytes, blob_object_id)
        values (p_workspace_id, file ->> 'file_unique_id', file ->> 'kind', file ->> 'mime', file ->> 'file_name',
                (p_blob ->> 'bytes')::bigint, knowledge.put_blob(p_workspace_id, p_blob))
        on conflict (workspace_id, file_unique_id) do update
           set blob_object_id = coalesce(f.blob_object_id, excluded.blob_object_id);
    end if;
    -- The bytes are here, so that the job which would download them makes the document at once.
    perform knowledge.store_message(p_workspace_id, p_bot_id, of_chat, audience.visibility, audience.dm_owner_user_id,
                                    message, p_payload, null);
    -- No bot can ask for the file by the name that the import gave it.
    delete from tg.file_instances i
     where (i.workspace_id, i.bot_id, i.file_id) = (p_workspace_id, p_bot_id, file ->> 'file_id');
    return verdict;
end
$$;
