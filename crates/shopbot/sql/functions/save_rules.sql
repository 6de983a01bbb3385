-- Saves new versions of rules and enables them, all or none: the steps of a scenario name each other, so they are
-- judged together. Returns [{rule_id, version}]. A conversation under way finishes on the versions that it began with.
-- Raises ZD001 with the field as its column.
create or replace function shopbot.save_rules(p_workspace_id uuid, p_rules jsonb, p_by text default null)
returns jsonb language plpgsql as $$
declare
    given jsonb;
    rule shopbot.bot_rules;
    saved jsonb := '[]';
begin
    if jsonb_typeof(p_rules) is distinct from 'array' or jsonb_array_length(p_rules) not between 1 and 200 then
        raise exception 'rules are a list of 1 to 200' using errcode = 'ZD001', column = 'rules';
    end if;
    perform shopbot.lock_rules(p_workspace_id);
    for given in select value from jsonb_array_elements(p_rules) loop
        rule := shopbot.read_rule(p_workspace_id, given);
        select coalesce(max(r.version), 0) + 1 into rule.version from shopbot.bot_rules r
         where r.workspace_id = p_workspace_id and r.rule_id = rule.rule_id;
        update shopbot.bot_rules r set enabled = false
         where r.workspace_id = p_workspace_id and r.rule_id = rule.rule_id and r.enabled;
        insert into shopbot.bot_rules
            (workspace_id, rule_id, version, enabled, intent, pattern, priority, max_turns, state, capture,
             check_pattern, response_template, re_ask_template, buttons, next_state)
        values
            (p_workspace_id, rule.rule_id, rule.version, true, rule.intent, rule.pattern, rule.priority, rule.max_turns,
             rule.state, rule.capture, rule.check_pattern, rule.response_template, rule.re_ask_template, rule.buttons,
             rule.next_state);
        perform ops.append_journal(p_workspace_id, 'shopbot', 'rule_saved', rule.rule_id, null,
                                   jsonb_build_object('version', rule.version, 'intent', rule.intent, 'by', p_by));
        saved := saved || jsonb_build_object('rule_id', rule.rule_id, 'version', rule.version);
    end loop;
    perform shopbot.check_rules(p_workspace_id);
    return saved;
end
$$;
