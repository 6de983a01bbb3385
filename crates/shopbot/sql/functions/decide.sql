-- What the bot makes of a message: the answer, if there is one, and where the conversation stands after it. Writes
-- nothing, so that an author can try rules without touching a conversation.
-- A state whose time is over is reset first. Each message is a turn. In a scenario the limit is that of the rule that
-- speaks, or of the one that began it; outside it is the bot's, and whoever reaches that one talks to nobody for a
-- while: so two bots stop. The state of an escalated conversation is the default one again.
create or replace function shopbot.decide(
    p_bot shopbot.bots, p_state shopbot.bot_state, p_message jsonb, p_now timestamptz
)
returns shopbot.decisions language plpgsql stable set plan_cache_mode = force_generic_plan as $$
declare
    kind constant text := p_message->>'kind';
    written constant text := coalesce(shopbot.clean_text(p_message->>case kind when 'button' then 'payload'
                                                         else 'text' end), '');
    folded constant text := coalesce(shopbot.fold_text(written), '');
    is_expired constant boolean := coalesce(p_state.expires_at < p_now, false);
    decision shopbot.decisions;
    state text := coalesce(p_state.state, 'default');
    context jsonb := coalesce(p_state.context, '{}');
    match shopbot.matches;
    turns int;
    limit_of int;
    template text;
    vars jsonb;
begin
    decision.state_before := state;
    decision.buttons := '[]';
    if (context->>'muted_until')::timestamptz > p_now then
        decision.outcome := 'muted';
        decision.state_after := state;
        decision.context := context;
        decision.expires_at := p_state.expires_at;
        decision.why := jsonb_build_object('muted_until', context->'muted_until');
        return decision;
    end if;
    if is_expired or context ? 'muted_until' then
        state := 'default';
        context := '{}';
    end if;
    turns := coalesce((context->>'turns')::int, 0) + 1;
    if kind = 'start' then
        state := 'default';
        context := '{}';
    elsif kind in ('text', 'button') and folded <> '' then
        match := shopbot.match_rule(p_bot.workspace_id, state, context->>'intent', context->'versions', folded,
                                    written);
    end if;
    context := context || jsonb_build_object('turns', turns);
    limit_of := case when state = 'default' then p_bot.turns_max
                     else coalesce(case when match.step <> 'any_time' then (match.rule).max_turns end,
                                   (context->>'max_turns')::int, p_bot.turns_max) end;
    decision.why := match.why;

    if turns - (case when state = 'default' then 0 else coalesce((context->>'began')::int, 0) end) >= limit_of then
        decision.outcome := 'escalated';
        decision.why := jsonb_build_object('guard', case when state = 'default' then 'turns' else 'scenario' end,
                                           'limit', limit_of);
        template := p_bot.escalation_text;
        context := case when state = 'default'
            then jsonb_build_object('muted_until', p_now + p_bot.mute_seconds * interval '1 second')
                        else jsonb_build_object('turns', turns) end;
        state := 'default';
    elsif kind = 'start' then
        decision.outcome := 'greeted';
        template := p_bot.greeting_text;
        decision.buttons := p_bot.menu;
    elsif folded = '' then
        decision.outcome := 'unsupported';
        template := p_bot.unsupported_text;
    elsif match.step is null then
        context := context || jsonb_build_object('fallbacks', coalesce((context->>'fallbacks')::int, 0) + 1);
        decision.why := jsonb_build_object('fallbacks', context->'fallbacks');
        if (context->>'fallbacks')::int >= p_bot.fallbacks_max then
            decision.outcome := 'escalated';
            template := p_bot.escalation_text;
            state := 'default';
            context := jsonb_build_object('turns', turns);
        else
            decision.outcome := 'fallback';
            template := p_bot.fallback_text;
            decision.buttons := p_bot.menu;
        end if;
    else
        decision.rule_id := (match.rule).rule_id;
        decision.rule_version := (match.rule).version;
        context := context - 'fallbacks';
        if match.step = 're_ask' then
            decision.outcome := 're_asked';
            template := (match.rule).re_ask_template;
        else
            decision.outcome := 'answered';
            template := (match.rule).response_template;
            decision.buttons := (match.rule).buttons;
            if match.step = 'any_time' and (match.rule).next_state <> 'default' then
                -- A scenario begins, with the versions that are enabled now.
                context := jsonb_build_object('turns', turns, 'began', turns - 1, 'intent', (match.rule).intent,
                    'max_turns', (match.rule).max_turns, 'vars', '{}'::jsonb, 'shown', '{}'::jsonb,
                    'versions', (select jsonb_object_agg(r.rule_id, r.version) from shopbot.bot_rules r
                                  where r.workspace_id = p_bot.workspace_id and r.enabled
                                    and r.intent = (match.rule).intent));
            elsif (match.rule).capture is not null then
                context := context || jsonb_build_object(
                    'vars', coalesce(context->'vars', '{}')
                        || jsonb_build_object((match.rule).capture, left(written, 500)),
                    'shown', coalesce(context->'shown', '{}')
                             || jsonb_build_object((match.rule).capture,
                                                   left(coalesce(p_message->>'shown_text', written), 500)));
            end if;
            state := coalesce((match.rule).next_state, state);
        end if;
    end if;

    -- What a rule of the intent captures, and has not yet in this conversation, is empty.
    select coalesce(jsonb_object_agg(n, ''), '{}') into vars from unnest(shopbot.template_names(template)) n;
    vars := vars || p_bot.variables || jsonb_build_object('turns', turns::text,
        'customer_name', left(coalesce(shopbot.clean_text(p_message->>'sender_name'), ''), 100));
    decision.response := left(shopbot.render_template(template, vars || coalesce(context->'vars', '{}')), 3900);
    if context ? 'shown' or position('customer_name' in template) > 0 then
        vars := vars || jsonb_build_object('customer_name',
                                           left(coalesce(shopbot.clean_text(p_message->>'shown_name'), ''), 100));
        decision.preview := left(shopbot.render_template(template, vars || coalesce(context->'shown', '{}')), 200);
    else
        decision.preview := left(decision.response, 200);
    end if;
    decision.state_after := state;
    -- A rule of the scenario has led out of it; a keyword of any time only leaves it.
    if state = 'default' and context ? 'intent' and decision.outcome = 'answered' and match.step <> 'any_time' then
        decision.finished := jsonb_build_object('intent', context->'intent',
                                                'answers', coalesce(context->'shown', '{}'));
    end if;
    decision.context := case when state = 'default'
        then context - '{intent,versions,began,max_turns,vars,shown}'::text[] else context end;
    decision.expires_at := p_now + p_bot.state_timeout_seconds * interval '1 second';
    if is_expired then
        decision.why := coalesce(decision.why, '{}') || '{"expired": true}';
    end if;
    return decision;
end
$$;
