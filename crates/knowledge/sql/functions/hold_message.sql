-- Before a page or a file is stored: forgetting and the move of a chat have ended, or begin after and see it. Locks the
-- message that a caller names as the reason, before anything that hangs on it: an edit or a forgetting locks the
-- message, then its addresses and files, then its documents, and a worker that takes the same order waits for it and
-- not in a circle.
create or replace function knowledge.hold_message(p_workspace_id uuid, p_ctx jsonb) returns void
language plpgsql as $$
begin
    perform pg_advisory_xact_lock_shared(hashtextextended(p_workspace_id::text, 12));
    perform from tg.messages m
      where (m.workspace_id, m.id) = (p_workspace_id, (
            select v.message_fk from tg.message_versions v
             where (v.workspace_id, v.id) = (p_workspace_id, (p_ctx ->> 'message_version_id')::bigint)))
        for share;
end
$$;
