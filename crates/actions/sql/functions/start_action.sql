-- Says that a bot has begun to do something in a chat, and how long that may take. Public: another module calls it in
-- its own transaction, and tells the bus' topic of wake-ups after its commit.
-- Guarantee: one action for one id, however often and from however many places its start comes. A repeat moves
-- `updated_at` and takes a new text or payload; an action that has ended stays as it is. Published exactly if something
-- changed. Returns {outcome: created | changed | unchanged | ignored, action}.
-- Raises ZA001 and ZA002 for the same id with another chat or type, ZA003 (with the field as its column) for what can
-- be no action.
create or replace function actions.start_action(
    p_workspace_id uuid, p_chat_id text, p_action_id text, p_action_type text, p_processing_max interval,
    p_display_text text default null, p_payload jsonb default null, p_trace_id text default null
) returns jsonb language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    shown constant text := actions.plain_text(p_display_text);
    given constant jsonb := actions.check_object('payload', p_payload, 32768);
    action actions.actions;
begin
    perform actions.check_ids(p_action_id, coalesce(p_chat_id, ''), coalesce(p_action_type, ''));
    select * into action from actions.find_action(p_workspace_id, p_action_id, p_chat_id, p_action_type);
    if found and action.status <> 'processing' then
        return jsonb_build_object('outcome', 'ignored', 'action', actions.bot_action(action));
    elsif found then
        return actions.change_action(action, shown, given, true, p_trace_id);
    end if;
    perform actions.open_chat(p_workspace_id, p_chat_id);
    insert into actions.actions (workspace_id, action_id, chat_id, action_type, created_at, deadline, display_text,
                                 payload, updated_at)
    values (p_workspace_id, p_action_id, p_chat_id, p_action_type, now_ts, now_ts + p_processing_max, shown, given,
            now_ts)
    returning * into action;
    perform actions.tell_action(action, 'action_started', p_trace_id);
    return jsonb_build_object('outcome', 'created', 'action', actions.bot_action(action));
end
$$;
