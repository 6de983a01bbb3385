-- A message as the contract writes it; the same for answers, events and history.
create or replace function actions.chat_message(p_message actions.messages) returns jsonb language sql stable as $$
    select jsonb_build_object(
               'workspaceId', p_message.workspace_id, 'chatId', p_message.chat_id, 'messageId', p_message.message_id,
               'seq', p_message.seq, 'role', p_message.role, 'text', p_message.text,
               'createdAt', platform.stamp(p_message.created_at))
           || case when p_message.metadata is null then '{}' else jsonb_build_object('metadata', p_message.metadata) end
$$;
