-- The rule that speaks to a text, and why that one. In this order: a rule of the state with a keyword in the text; a
-- rule of the state that captures the text, if its check passes; a rule of any time with a keyword in the text; the
-- rule of the state whose check failed, which asks again (step `re_ask`). In the default state only rules of any time
-- are there. Within a step the higher priority wins, then the longer keyword, then the rule id; `why` says which of
-- them decided. p_intent and p_versions are those of a running scenario: its rules are the versions that it began with.
create or replace function shopbot.match_rule(
    p_workspace_id uuid, p_state text, p_intent text, p_versions jsonb, p_folded text, p_written text
) returns shopbot.matches language plpgsql stable set plan_cache_mode = force_generic_plan as $$
declare
    match shopbot.matches;
    other record;
    candidate record;
begin
    for candidate in
        with rules as (
            select r as rule from shopbot.bot_rules r
             where r.workspace_id = p_workspace_id and r.enabled and r.intent is distinct from p_intent
               and not coalesce(p_versions, '{}') ? r.rule_id and (r.state is null or r.state = p_state)
            union all
            select r from jsonb_each_text(coalesce(p_versions, '{}')) v
              join shopbot.bot_rules r on r.workspace_id = p_workspace_id and r.rule_id = v.key
                  and r.version = v.value::int
             where r.state is null or r.state = p_state
        )
        select c.rule, k.keyword, s.step
          from rules c
          left join lateral (select w.keyword from unnest((c.rule).keywords) w (keyword)
                             where position(w.keyword in p_folded) > 0
                              order by char_length(w.keyword) desc, w.keyword collate "C" limit 1) k on true
         cross join lateral (select case
             when (c.rule).state is null then case when k.keyword is not null then 3 end
             when k.keyword is null and ((c.rule).capture is null or (c.rule).keywords <> '{}') then null
             when (c.rule).check_pattern is not null and p_written !~ (c.rule).check_pattern then 4
             when k.keyword is not null then 1
             else 2 end as step) s
         where s.step is not null
         order by s.step, (c.rule).priority desc, char_length(k.keyword) desc nulls last, (c.rule).rule_id collate "C"
         limit 2
    loop
        if match.step is null then
            match.rule := candidate.rule;
            match.step := (array['state', 'capture', 'any_time', 're_ask'])[candidate.step];
            match.why := jsonb_strip_nulls(jsonb_build_object('step', match.step, 'keyword', candidate.keyword,
                                                              'decided_by', 'only_match'));
            other := candidate;
        elsif candidate.step = other.step then
            match.why := match.why || jsonb_build_object('over', (candidate.rule).rule_id, 'decided_by', case
                when (other.rule).priority > (candidate.rule).priority then 'priority'
                when char_length(other.keyword) > coalesce(char_length(candidate.keyword), 0) then 'longest_keyword'
                else 'rule_id' end);
        end if;
    end loop;
    return match;
end
$$;
