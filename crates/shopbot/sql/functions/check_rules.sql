-- Looks whether the enabled rules of a workspace and the texts of its bots fit together: templates use variables that
-- there are, a next state is one that some rule is for, and no rule captures under a name that a bot has given a
-- meaning. Raises ZD001 with the field as its column for the first that does not; its words name what was nearest.
create or replace function shopbot.check_rules(p_workspace_id uuid) returns void language plpgsql as $$
declare
    states constant text[] := array(select distinct r.state from shopbot.bot_rules r
                                     where r.workspace_id = p_workspace_id and r.enabled and r.state is not null);
    known text[];
    used record;
    rule shopbot.bot_rules;
begin
    for used in
        select b.provider, b.variables, t.field, n.name
          from shopbot.bots b
         cross join lateral (values ('greeting_text', b.greeting_text), ('fallback_text', b.fallback_text),
                                    ('escalation_text', b.escalation_text),
                                        ('unsupported_text', b.unsupported_text)) t (field, template)
         cross join lateral unnest(shopbot.template_names(t.template)) n (name)
         where b.workspace_id = p_workspace_id
    loop
        known := array['customer_name', 'turns'] || array(select jsonb_object_keys(used.variables));
        if used.name <> all (known) then
            raise exception 'the % bot has no variable `%`; %', used.provider, left(used.name, 50),
                platform.near_names(used.name, known)
                using errcode = 'ZD001', column = used.field;
        end if;
    end loop;
    for rule in select * from shopbot.bot_rules r where r.workspace_id = p_workspace_id and r.enabled
        order by r.rule_id loop
        known := shopbot.known_variables(p_workspace_id, rule.intent);
        select t.field, n.name into used
          from (values ('response_template', rule.response_template),
                ('re_ask_template', rule.re_ask_template)) t (field, template)
         cross join lateral unnest(shopbot.template_names(t.template)) n (name)
         where n.name <> all (known) limit 1;
        if found then
            raise exception 'rule `%` uses the variable `%`, which there is not; %', rule.rule_id, left(used.name, 50),
                platform.near_names(used.name, known) using errcode = 'ZD001', column = used.field;
        elsif rule.next_state <> all (states || 'default'::text) then
            raise exception 'rule `%` leads to the state `%`, which no rule is for; %', rule.rule_id, rule.next_state,
                platform.near_names(rule.next_state, states || 'default'::text) using errcode = 'ZD001',
                    column = 'next_state';
        elsif exists (select from shopbot.bots b where b.workspace_id = p_workspace_id and b.variables ? rule.capture)
            then
            raise exception 'rule `%` captures `%`, which is a variable of the bot', rule.rule_id, rule.capture
                using errcode = 'ZD001', column = 'capture';
        end if;
    end loop;
end
$$;
