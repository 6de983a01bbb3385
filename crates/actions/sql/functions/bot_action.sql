-- An action as the contract writes it; the same for answers, events and snapshots. What is absent is left out.
create or replace function actions.bot_action(p_action actions.actions) returns jsonb language sql stable as $$
    select jsonb_build_object(
               'workspaceId', p_action.workspace_id, 'chatId', p_action.chat_id, 'actionId', p_action.action_id,
               'actionType', p_action.action_type, 'status', p_action.status,
               'createdAt', platform.stamp(p_action.created_at), 'updatedAt', platform.stamp(p_action.updated_at))
           || case when p_action.display_text is null then '{}'
               else jsonb_build_object('displayText', p_action.display_text) end
           || case when p_action.payload is null then '{}' else jsonb_build_object('payload', p_action.payload) end
$$;
