-- Takes one message of a customer from receipt to answer, in one transaction: inbox, decision, state, log, outbox, bus.
-- What is committed is whole: a crash before loses nothing, because the provider sends the message again, and a crash
-- after loses nothing, because the answer is in the outbox.
-- Guarantees: a message is handled once; messages of one chat are handled one after the other, whichever processes they
-- came to, and numbered in that order; a message has at most one answer.
-- p_message: {chat_id, provider_message_id, kind, text?, payload?, sender_name?, is_from_bot?, sent_at?, shown_text?,
-- shown_name?}, where shown_text and shown_name are what may be written down of text and name.
-- Returns {outcome, answer_id?, rule_id?, rule_version?, state_before, state_after}; the outcome of a repeated message
-- is `duplicate`.
-- p_bot_id is whose message it is; null: the first bot of the workspace in this messenger.
-- Raises ZD004 when the workspace has no such bot, or it is switched off.
create or replace function shopbot.handle_message(
    p_workspace_id uuid, p_provider text, p_message jsonb, p_trace_id text default null,
    p_now timestamptz default null, p_bot_id uuid default null
) returns jsonb language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
    now_ts constant timestamptz := coalesce(p_now, platform.now());
    chat constant text := p_message->>'chat_id';
    inbound constant text := p_message->>'provider_message_id';
    bot shopbot.bots;
    state shopbot.bot_state;
    decision shopbot.decisions;
    arrived bigint;
    slot timestamptz;
    made uuid;
begin
    select b.* into bot
      from shopbot.bots b join core.bots r on r.workspace_id = b.workspace_id and r.bot_id = b.bot_id and r.enabled
     where b.workspace_id = p_workspace_id and b.provider = p_provider and (p_bot_id is null or b.bot_id = p_bot_id)
     order by b.created_at, b.bot_id limit 1;
    if not found then
        raise exception 'there is no enabled % bot in this workspace', p_provider using errcode = 'ZD004';
    end if;
    select * into state from shopbot.bot_state s
     where s.workspace_id = p_workspace_id and s.bot_id = bot.bot_id and s.chat_id = chat for no key update;
    if not found then
        insert into shopbot.bot_state as s (workspace_id, bot_id, provider, chat_id, updated_at)
        values (p_workspace_id, bot.bot_id, p_provider, chat, now_ts)
        on conflict (workspace_id, bot_id, chat_id) do update set updated_at = s.updated_at
        returning * into state;
    end if;

    insert into shopbot.bot_inbox (workspace_id, bot_id, provider, chat_id, provider_message_id, ts, kind, is_from_bot,
                                   trace_id)
    values (p_workspace_id, bot.bot_id, p_provider, chat, inbound, now_ts, p_message->>'kind',
            coalesce((p_message->>'is_from_bot')::boolean, false), p_trace_id)
    on conflict do nothing returning arrival into arrived;
    if arrived is null then
        return jsonb_build_object('outcome', 'duplicate', 'answer_id',
            (select o.answer_id from shopbot.bot_outbox o
              where o.workspace_id = p_workspace_id and o.bot_id = bot.bot_id and o.chat_id = chat
                and o.inbound_provider_message_id = inbound));
    end if;

    decision := shopbot.decide(bot, state, p_message, now_ts);
    slot := greatest(now_ts, state.next_answer_at);
    if decision.response is not null then
        insert into shopbot.bot_outbox (workspace_id, bot_id, provider, chat_id, inbound_provider_message_id,
                                        inbound_kind, seq, text, buttons, response_hash, trace_id, created_at,
                                        next_retry_at, updated_at)
        values (p_workspace_id, bot.bot_id, p_provider, chat, inbound, p_message->>'kind', arrived,
                decision.response, decision.buttons,
                encode(sha256(convert_to(decision.response || decision.buttons::text, 'UTF8')), 'hex'),
                p_trace_id, now_ts, slot, now_ts)
        on conflict do nothing returning answer_id into made;
    end if;
    update shopbot.bot_state s
       set state = decision.state_after, context = decision.context, expires_at = decision.expires_at,
           updated_at = now_ts, next_answer_at = case when made is null then s.next_answer_at
                                                      else slot + interval '1 second' / bot.chat_rps::float8 end
     where s.workspace_id = p_workspace_id and s.bot_id = bot.bot_id and s.chat_id = chat;
    insert into shopbot.bot_logs (workspace_id, ts, bot_id, provider, chat_id, inbound_provider_message_id,
                                  message_text,
                                  outcome, matched_rule_id, rule_version, state_before, state_after, response_preview,
                                  meta)
    values (p_workspace_id, now_ts, bot.bot_id, p_provider, chat, inbound,
            left(coalesce(p_message->>'shown_text', ''), 1000),
            decision.outcome, decision.rule_id, decision.rule_version, decision.state_before, decision.state_after,
            decision.preview, jsonb_strip_nulls(jsonb_build_object(
                'trace_id', p_trace_id, 'idempotency_key', p_provider || ':' || chat || ':' || inbound,
                'answer_id', made, 'adapter', p_provider, 'kind', p_message->'kind',
                'is_from_bot', p_message->'is_from_bot', 'sent_at', p_message->'sent_at', 'why', decision.why)));
    perform bus.publish(p_workspace_id, 'shopbot',
                        jsonb_build_object('provider', p_provider, 'chat_id', chat, 'outcome', decision.outcome));
    perform shopbot.tell_decision(p_workspace_id, p_provider, p_message, decision, p_trace_id);
    return jsonb_strip_nulls(jsonb_build_object(
        'outcome', decision.outcome, 'answer_id', made, 'rule_id', decision.rule_id,
        'rule_version', decision.rule_version, 'state_before', decision.state_before,
        'state_after', decision.state_after));
end
$$;
