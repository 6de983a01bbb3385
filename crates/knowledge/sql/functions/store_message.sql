-- Stores a message and the version that an update brought, and makes the latest version what is indexed. Guarantees: a
-- version exists once; the version said last is the current one, whatever came first (within one second an edit comes
-- after the message, and then the number of the update decides); the text of an older one leaves the index in this
-- transaction. Jobs are made for the links and files of the current version only. Returns
-- message_fk, message_version_id, created_jobs.
create or replace function knowledge.store_message(
    p_workspace_id uuid, p_bot_id uuid, p_chat_id bigint, p_visibility core.visibility_scope, p_owner bigint,
    p_message jsonb, p_payload jsonb, p_trace_id text
) returns jsonb language plpgsql as $$
declare
    message tg.messages;
    version_id bigint;
    is_new boolean;
    current_id bigint;
    sha text := encode(sha256(convert_to(p_payload::text, 'UTF8')), 'hex');
    said timestamptz := coalesce((p_message ->> 'edit_date')::timestamptz, (p_message ->> 'date')::timestamptz);
    jobs jsonb := '{"url_jobs": [], "file_jobs": []}';
begin
    perform knowledge.await_turn_at_message(p_workspace_id, p_chat_id, (p_message ->> 'message_id')::int);
    insert into tg.messages as m
        (workspace_id, chat_id, message_id, kind, date, tg_user_id, sender_chat_id, thread_id, reply_to_message_id,
         media_group_id, forward_origin, pins_message_id, is_pinned)
    values (p_workspace_id, p_chat_id, (p_message ->> 'message_id')::int, p_message ->> 'kind',
            (p_message ->> 'date')::timestamptz, (p_message ->> 'tg_user_id')::bigint,
            (p_message ->> 'sender_chat_id')::bigint, (p_message ->> 'thread_id')::int,
            (p_message ->> 'reply_to_message_id')::int, p_message ->> 'media_group_id',
            nullif(p_message -> 'forward_origin', 'null'), (p_message ->> 'pins_message_id')::int,
            exists (select from tg.messages p
                     where (p.workspace_id, p.chat_id, p.pins_message_id)
                           = (p_workspace_id, p_chat_id, (p_message ->> 'message_id')::int)))
    -- The row is locked either way: whoever stores another version of it waits.
    on conflict on constraint message_is_there_once do update set kind = excluded.kind
    returning m.* into message;

    insert into tg.message_versions
        as v (workspace_id, message_fk, version_no, said_at, is_edit, is_command, update_id, text, caption,
              normalized_text, entities, payload, payload_sha256)
    select p_workspace_id, message.id,
           coalesce((select max(v.version_no) from tg.message_versions v
                      where (v.workspace_id, v.message_fk) = (p_workspace_id, message.id)), 0) + 1,
           said, p_message ->> 'edit_date' is not null, p_message ->> 'command' is not null,
           (p_message ->> 'update_id')::bigint,
           p_message ->> 'text', p_message ->> 'caption', p_message ->> 'normalized_text',
           nullif(p_message -> 'entities', 'null'), p_payload, sha
    -- The same may be said twice within a second, with something else between.
    on conflict on constraint version_is_made_once do update
       set update_id = greatest(v.update_id, excluded.update_id)
    returning v.id, v.xmax = 0 into version_id, is_new;
    if is_new then
        insert into tg.message_links (workspace_id, message_version_id, link_no, url, normalized_url)
        select p_workspace_id, version_id, n, link ->> 'url', link ->> 'normalized_url'
          from jsonb_array_elements(p_message -> 'links') with ordinality as l (link, n);
        perform knowledge.store_attachments(p_workspace_id, p_bot_id, version_id, p_message -> 'attachments');
    end if;
    select v.id into current_id from tg.message_versions v
     where (v.workspace_id, v.message_fk) = (p_workspace_id, message.id)
     order by v.said_at desc, v.is_edit desc, v.update_id desc nulls last, v.id desc limit 1;
    if current_id is distinct from message.current_version_id then
        update tg.messages set current_version_id = current_id where (workspace_id, id) = (p_workspace_id, message.id);
        jobs := knowledge.index_message(p_workspace_id, message.id, current_id, p_visibility, p_owner,
                                        knowledge.chat_now(p_workspace_id, p_chat_id), p_trace_id);
    end if;
    return jsonb_build_object('message_fk', message.id, 'message_version_id', version_id, 'created_jobs', jobs);
end
$$;
