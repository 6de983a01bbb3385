-- Whether a message was forgotten: itself, or with its chat or its sender after it was sent.
create or replace function knowledge.is_forgotten(
    p_workspace_id uuid, p_chat_id bigint, p_message_id int, p_user_id bigint, p_date timestamptz
) returns boolean language sql stable as $$
    select exists (
        select from tg.forgotten f
         where f.workspace_id = p_workspace_id
           and ((f.kind, f.chat_id, f.subject) = ('message', p_chat_id, p_message_id::bigint)
                or (f.kind, f.chat_id, f.subject) = ('chat', p_chat_id, 0) and p_date <= f.at
                or (f.kind, f.chat_id, f.subject) = ('person', 0, p_user_id) and p_date <= f.at))
$$;
