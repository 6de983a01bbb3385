-- Makes this version of a rule the one that answers, instead of whichever did; p_version null: none does.
-- Raises ZD003 when there is no such rule or version, ZD001 when the rules would not fit together.
create or replace function shopbot.enable_rule(
    p_workspace_id uuid, p_rule_id text, p_version int, p_by text default null
) returns void
language plpgsql as $$
begin
    perform shopbot.lock_rules(p_workspace_id);
    if not exists (select from shopbot.bot_rules r
                    where r.workspace_id = p_workspace_id and r.rule_id = p_rule_id
                      and (p_version is null or r.version = p_version)) then
        raise exception 'there is no rule `%`%', p_rule_id,
            coalesce(' of version ' || p_version, '') using errcode = 'ZD003',
            hint = platform.near_names(p_rule_id,
                                       array(select r.rule_id from shopbot.bot_rules r
                                             where r.workspace_id = p_workspace_id));
    end if;
    update shopbot.bot_rules r set enabled = false
     where r.workspace_id = p_workspace_id and r.rule_id = p_rule_id and r.enabled
       and r.version is distinct from p_version;
    update shopbot.bot_rules r set enabled = true
     where r.workspace_id = p_workspace_id and r.rule_id = p_rule_id and r.version = p_version and not r.enabled;
    perform ops.append_journal(p_workspace_id, 'shopbot', case when p_version is null then 'rule_disabled'
                               else 'rule_enabled' end,
                               p_rule_id, null, jsonb_build_object('version', p_version, 'by', p_by));
    perform shopbot.check_rules(p_workspace_id);
end
$$;
