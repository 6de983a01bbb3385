-- Tells the outside that a conversation was handed over to a person (`bot.escalated`) or that a scenario has come to
-- its end (`bot.scenario_finished`). What a customer wrote is in it as it is written into the log: redacted.
create or replace function shopbot.tell_decision(
    p_workspace_id uuid, p_provider text, p_message jsonb, p_decision shopbot.decisions, p_trace_id text
) returns void language plpgsql as $$
declare
    about constant jsonb := jsonb_build_object('provider', p_provider, 'chat_id', p_message->'chat_id',
        'trace_id', p_trace_id, 'customer_name', left(p_message->>'shown_name', 100));
begin
    if p_decision.outcome = 'escalated' then
        perform ops.emit_event(p_workspace_id, 'bot.escalated', jsonb_strip_nulls(about || jsonb_build_object(
            'message', left(p_message->>'shown_text', 1000), 'state', p_decision.state_before, 'why', p_decision.why)));
    elsif p_decision.finished is not null then
        perform ops.emit_event(p_workspace_id, 'bot.scenario_finished', jsonb_strip_nulls(about || p_decision.finished
            || jsonb_build_object('rule_id', p_decision.rule_id, 'rule_version', p_decision.rule_version)));
    end if;
end
$$;
