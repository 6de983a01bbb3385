-- Says how an action goes on (`processing`, with a new text or payload) or that it has ended (`done`, `error`). Public,
-- as start_action is. Guarantee: the first ending wins, whoever comes second and with what; a second one of the other
-- kind, and any after the watchdog's, is kept in the journal, once, as late. An ended action never goes on. What
-- changes nothing is not published. Returns {outcome: changed | unchanged | ignored, action}.
-- Raises ZA004 when there is no such action (start comes first, always), ZA001 and ZA002 when it has another chat or
-- type, ZA003 (with the field as its column) for what can be no update.
create or replace function actions.update_action(
    p_workspace_id uuid, p_action_id text, p_status text, p_display_text text default null,
    p_payload jsonb default null,
    p_chat_id text default null, p_action_type text default null, p_trace_id text default null
) returns jsonb language plpgsql as $$
declare
    shown constant text := actions.plain_text(p_display_text);
    given constant jsonb := actions.check_object('payload', p_payload, 32768);
    action actions.actions;
begin
    if (p_status in ('processing', 'done', 'error')) is not true then
        raise exception '`status` is processing, done or error' using errcode = 'ZA003', column = 'status';
    end if;
    perform actions.check_ids(p_action_id, p_chat_id, p_action_type);
    select * into action from actions.find_action(p_workspace_id, p_action_id, p_chat_id, p_action_type);
    if not found then
        raise exception 'there is no action %', p_action_id using errcode = 'ZA004', hint = 'start it first';
    end if;
    if action.status = p_status and not action.is_timed_out then
        return actions.change_action(action, shown, given, false, p_trace_id);
    elsif action.status = 'processing' then
        return actions.end_action(action, p_status, shown, given, p_trace_id);
    end if;
    if p_status <> 'processing' and action.late_at is null then
        update actions.actions a set late_at = platform.now()
         where a.workspace_id = p_workspace_id and a.action_id = p_action_id;
        perform ops.append_journal(p_workspace_id, 'actions', 'action_late', p_action_id, p_trace_id,
            jsonb_build_object('chat_id', action.chat_id, 'action_type', action.action_type, 'status', action.status,
                               'late_status', p_status, 'code', left(action.payload->>'code', 100)));
    end if;
    return jsonb_build_object('outcome', 'ignored', 'action', actions.bot_action(action));
end
$$;
