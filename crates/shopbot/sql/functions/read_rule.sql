-- A rule as somebody wrote it in JSON, ready to be stored; what is left out has its default.
-- Raises ZD001, with the name of the field as its column, for what can be no rule.
create or replace function shopbot.read_rule(p_workspace_id uuid, p_rule jsonb)
returns shopbot.bot_rules language plpgsql stable as $$
declare
    known constant text[] :=
        '{rule_id,intent,pattern,priority,max_turns,state,capture,check_pattern,
          response_template,re_ask_template,buttons,next_state}';
    field text;
    rule shopbot.bot_rules;
begin
    if jsonb_typeof(p_rule) is distinct from 'object' then
        raise exception 'a rule is a JSON object' using errcode = 'ZD001', column = 'body';
    end if;
    select k into field from jsonb_object_keys(p_rule) k where k <> all (known) limit 1;
    if field is not null then
        raise exception 'there is no field `%`; %', left(field, 50), platform.near_names(left(field, 50), known)
            using errcode = 'ZD001', column = left(field, 50);
    end if;
    select k into field
      from unnest('{rule_id,intent,state,capture,check_pattern,response_template,re_ask_template,next_state}'::text[]) k
     where jsonb_typeof(coalesce(p_rule->k, 'null')) not in ('string', 'null')
        or (k in ('rule_id', 'intent', 'response_template') and p_rule->>k is null) limit 1;
    if field is not null then
        raise exception '`%` is a text', field using errcode = 'ZD001', column = field;
    end if;
    select k into field from unnest('{priority,max_turns}'::text[]) k
     where jsonb_typeof(coalesce(p_rule->k, '0')) <> 'number' or coalesce(p_rule->>k, '0') !~ '^-?[0-9]{1,9}$' limit 1;
    if field is not null then
        raise exception '`%` is a whole number', field using errcode = 'ZD001', column = field;
    end if;
    rule := jsonb_populate_record(null::shopbot.bot_rules, p_rule);
    rule.workspace_id := p_workspace_id;
    rule.priority := coalesce(rule.priority, 0);
    rule.max_turns := coalesce(rule.max_turns, 5);
    rule.buttons := coalesce(nullif(rule.buttons, 'null'), '[]');
    rule.keywords := shopbot.fold_keywords(rule.pattern);
    select w.field into field from (values
        ('rule_id', rule.rule_id ~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$'),
            ('intent', rule.intent ~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$'),
        ('state', rule.state ~ '^[a-z][a-z0-9_]{0,49}$' and rule.state <> 'default'),
            ('next_state', rule.next_state ~ '^[a-z][a-z0-9_]{0,49}$'),
        ('capture', rule.capture ~ '^[a-z][a-z0-9_]{0,39}$'
         and rule.capture not in ('customer_name', 'turns'))) w (field, is_plain)
     where not w.is_plain limit 1;
    if field is not null then
        raise exception '`%` is a plain name of its own: letters, digits and underscores, a letter first', field
            using errcode = 'ZD001', column = field;
    elsif not shopbot.is_pattern(rule.pattern) then
        raise exception
            '`pattern` is {"keywords": [...], "mode": "contains"}, with at most 100 keywords that are not empty'
            using errcode = 'ZD001', column = 'pattern';
    elsif rule.keywords = '{}' and rule.capture is null then
        raise exception 'a rule that captures nothing has at least one keyword' using errcode = 'ZD001',
            column = 'pattern';
    elsif rule.max_turns < 2 then
        raise exception '`max_turns` is at least 2' using errcode = 'ZD001', column = 'max_turns';
    elsif rule.capture is not null and rule.state is null then
        raise exception 'a rule captures in a state: name the `state` in which the customer is asked'
            using errcode = 'ZD001', column = 'state';
    elsif rule.check_pattern is not null and not shopbot.is_check_pattern(rule.check_pattern) then
        raise exception
            '`check_pattern` is a regular expression of at most 200 characters without '
            'back-references, and this one is not'
            using errcode = 'ZD001', column = 'check_pattern';
    elsif rule.check_pattern is not null and rule.capture is null then
        raise exception 'there is nothing to check without `capture`' using errcode = 'ZD001', column = 'check_pattern';
    elsif (rule.check_pattern is null) <> (rule.re_ask_template is null) then
        raise exception '`check_pattern` and `re_ask_template` go together' using errcode = 'ZD001',
            column = 're_ask_template';
    elsif char_length(rule.response_template) not between 1 and 3000 then
        raise exception '`response_template` has 1 to 3000 characters' using errcode = 'ZD001',
            column = 'response_template';
    elsif char_length(rule.re_ask_template) not between 1 and 3000 then
        raise exception '`re_ask_template` has 1 to 3000 characters' using errcode = 'ZD001',
            column = 're_ask_template';
    elsif not shopbot.is_quick_replies(rule.buttons) then
        raise exception
            '`buttons` is a list of rows, a row a list of 1 to 7 {"text", "payload"?}; what comes back '
            'has at most 64 bytes'
            using errcode = 'ZD001', column = 'buttons';
    end if;
    return rule;
end
$$;
