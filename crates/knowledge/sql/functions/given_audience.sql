-- The audience that a caller names (WF30, WF31, WF32), judged as of now: a group that is registered and active, or a
-- person on the allowlist. A private chat has the id of its person, and a group that became a supergroup the new one.
-- A message that is named must be one of theirs. Raises ZK004 for everything else.
create or replace function knowledge.given_audience(p_workspace_id uuid, p_ctx jsonb)
returns table (visibility core.visibility_scope, chat_id bigint, owner bigint, version_id bigint)
language plpgsql stable as $$
declare
    is_private constant boolean := p_ctx ->> 'visibility' = 'dm';
begin
    owner := case when is_private then (p_ctx ->> 'dm_owner_user_id')::bigint end;
    chat_id := case when is_private then owner
                    else knowledge.chat_now(p_workspace_id, (p_ctx ->> 'chat_id')::bigint) end;
    version_id := (p_ctx ->> 'message_version_id')::bigint;
    select a.visibility into visibility
      from knowledge.audience_of(
           p_workspace_id, chat_id, case when is_private then 'private' else 'group' end, owner) a;
    if visibility is null then
        raise exception 'this chat is not registered, or this person is not on the allowlist' using errcode = 'ZK004';
    elsif exists (
            select from tg.message_versions v
              join tg.messages m on (m.workspace_id, m.id) = (v.workspace_id, v.message_fk)
             where (v.workspace_id, v.id) = (p_workspace_id, version_id)
               and knowledge.chat_now(p_workspace_id, m.chat_id) <> given_audience.chat_id) then
        raise exception 'the message is not one of this audience' using errcode = 'ZK004';
    end if;
    return next;
end
$$;
