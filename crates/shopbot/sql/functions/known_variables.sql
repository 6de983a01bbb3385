-- The variables that a template of this intent may use: what the engine knows of every message, what every bot of the
-- workspace has (a rule answers in both messengers), and what rules of the intent capture.
create or replace function shopbot.known_variables(p_workspace_id uuid, p_intent text)
returns text[] language sql stable as $$
    select array['customer_name', 'turns']
        || array(select v.key from shopbot.bots b cross join lateral jsonb_object_keys(b.variables) v (key)
                  where b.workspace_id = p_workspace_id
                  group by v.key
                 having count(*) = (select count(*) from shopbot.bots b where b.workspace_id = p_workspace_id))
        || array(select distinct r.capture from shopbot.bot_rules r
                  where r.workspace_id = p_workspace_id and r.enabled and r.intent = p_intent and r.capture is not null)
$$;
