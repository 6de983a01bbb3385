-- How much knowledge.forget would forget, with the same parameters, and changes nothing. documents counts the pages and
-- files that nobody else shares, as forget does.
create or replace function knowledge.count_forgetting(
    p_workspace_id uuid, p_kind text, p_chat_id bigint, p_message_id int, p_user_id bigint
) returns jsonb language sql stable as $$
    with chats (ids) as (
        select knowledge.chats_of(p_workspace_id, p_chat_id)
    ), found as materialized (
        select m.id from tg.messages m
         where m.workspace_id = p_workspace_id and case p_kind
               when 'message' then (m.chat_id, m.message_id) = (p_chat_id, p_message_id)
               when 'chat' then m.chat_id = any ((select ids from chats)::bigint[])
               else m.tg_user_id = p_user_id end
    )
    select jsonb_build_object(
        'messages', (select count(*) from found),
        'documents', (
            select count(*) from (
                select s.document_id as id from found f
                  join content.document_sources s on (s.workspace_id, s.message_fk) = (p_workspace_id, f.id)
                union
                select d.id from content.documents d
                 where d.workspace_id = p_workspace_id and d.doc_type <> 'message'
                   and (p_kind = 'chat' and d.chat_id = any ((select ids from chats)::bigint[])
                        or p_kind = 'person' and d.dm_owner_user_id = p_user_id)) named
             where not exists (select from content.document_sources o
                                where (o.workspace_id, o.document_id) = (p_workspace_id, named.id)
                                  and o.message_fk not in (select id from found))),
        'chunks', (select count(*) from found f
                     join content.documents d on (d.workspace_id, d.message_fk) = (p_workspace_id, f.id)
                     join kg.chunks c on (c.workspace_id, c.document_id) = (d.workspace_id, d.id)),
        'raw_updates', case p_kind
            when 'message' then (
                select count(*) from knowledge.raw_of_messages(p_workspace_id, array[p_chat_id], array[p_message_id]))
            else (
                select count(*) from raw.telegram_updates r
                 where r.workspace_id = p_workspace_id and r.body <> '{}'
                   and case p_kind when 'chat' then r.chat_id = any ((select ids from chats)::bigint[])
                                   else r.body @@ format('$.*.from.id == %s', p_user_id)::jsonpath end) end)
$$;
