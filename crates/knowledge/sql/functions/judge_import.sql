-- What an import would do with a message of an export, and changes nothing: `new`, `newer` (an edit that is not here,
-- or the file that an earlier export lacked), `known`, `forgotten`, `expired` (older than the policy of the chat
-- keeps), `not_kept` (the chat is not registered, or the person is not on the allowlist), `taken` (another message of
-- the private chat has this number).
create or replace function knowledge.judge_import(
    p_workspace_id uuid, p_chat_id bigint, p_chat_type text, p_message jsonb
) returns text language plpgsql stable as $$
declare
    number constant int := (p_message ->> 'message_id')::int;
    sender constant bigint := (p_message ->> 'tg_user_id')::bigint;
    sent constant timestamptz := (p_message ->> 'date')::timestamptz;
    said constant timestamptz := coalesce((p_message ->> 'edit_date')::timestamptz, sent);
    has_file constant boolean := coalesce((p_message ->> 'has_file')::boolean,
                                          p_message -> 'attachments' is distinct from '[]');
    policy constant core.chat_policies := knowledge.policy_of(
        p_workspace_id, knowledge.chat_now(p_workspace_id, p_chat_id));
    message tg.messages;
begin
    if not exists (select from knowledge.audience_of(p_workspace_id, p_chat_id, p_chat_type, sender)) then
        return 'not_kept';
    elsif knowledge.is_forgotten(p_workspace_id, p_chat_id, number, sender, sent) then
        return 'forgotten';
    elsif sent < platform.now() - policy.retention_days_documents * interval '1 day' then
        return 'expired';
    end if;
    select * into message from tg.messages m
     where (m.workspace_id, m.chat_id, m.message_id) = (p_workspace_id, p_chat_id, number);
    if not found then
        return 'new';
    elsif p_chat_type = 'private' and message.date <> sent then
        return 'taken';
    elsif exists (select from tg.message_versions v
                   where (v.workspace_id, v.message_fk) = (p_workspace_id, message.id) and v.said_at >= said) then
        return case when has_file and exists (
            select from tg.message_versions v
             where (v.workspace_id, v.id, v.said_at) = (p_workspace_id, message.current_version_id, said)
               and v.payload -> 'imported' = 'true'
               and not exists (select from tg.message_attachments a
                                where (a.workspace_id, a.message_version_id) = (v.workspace_id, v.id)))
            then 'newer' else 'known' end;
    end if;
    return 'newer';
end
$$;
