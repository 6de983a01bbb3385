-- Saves a new version of one rule, enables it in place of the old one, and returns its number. See save_rules.
create or replace function shopbot.save_rule(p_workspace_id uuid, p_rule jsonb) returns int language sql as $$
    select (shopbot.save_rules(p_workspace_id, jsonb_build_array(p_rule))->0->>'version')::int
$$;
