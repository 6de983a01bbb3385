-- Holds the message that shares a page or file, so that it is neither edited nor forgotten before this transaction ends.
-- To be called first: messages are locked before addresses, files and documents by everybody.
create or replace function knowledge.hold_source(p_workspace_id uuid, p_ctx jsonb) returns void language sql as $$
    select from tg.messages m
     where (m.workspace_id, m.id) = (p_workspace_id, (
           select v.message_fk from tg.message_versions v
            where (v.workspace_id, v.id) = (p_workspace_id, (p_ctx ->> 'message_version_id')::bigint)))
       for share
$$;
