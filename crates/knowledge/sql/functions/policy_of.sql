-- The policy of a chat; one without a row has the defaults of the table.
create or replace function knowledge.policy_of(p_workspace_id uuid, p_chat_id bigint) returns core.chat_policies
language sql stable as $$
    select p from (
        select c, 1 as rank from core.chat_policies c where (c.workspace_id, c.chat_id) = (p_workspace_id, p_chat_id)
        union all
        select row (p_workspace_id, p_chat_id, true, true, true, 90, 3650, platform.now())::core.chat_policies, 2
    ) known (p, rank) order by rank limit 1
$$;
