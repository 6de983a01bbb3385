-- Which of the people that an update names (in its body p_body, or in p_users as it was read) were forgotten and have
-- said nothing since: their names do not come back with what others forward, answer or tell of them.
create or replace function knowledge.people_forgotten(p_workspace_id uuid, p_body jsonb, p_users jsonb) returns bigint[]
language plpgsql stable as $$
begin
    -- As a rule there are none, and the update need not be searched.
    if not exists (select from tg.forgotten f where (f.workspace_id, f.kind) = (p_workspace_id, 'person')) then
        return '{}';
    end if;
    return (
        with named (id) as (
            select i::numeric from jsonb_path_query(p_body, '$.**.id ? (@.type() == "number")') i
            union
            select i::numeric from jsonb_path_query(p_users, '$[*].tg_user_id ? (@.type() == "number")') i
        )
        select coalesce(array_agg(f.subject), '{}') from named n
          join tg.forgotten f
            on (f.workspace_id, f.kind, f.chat_id) = (p_workspace_id, 'person', 0) and f.subject = n.id
         where not exists (select from tg.messages m
                            where (m.workspace_id, m.tg_user_id) = (p_workspace_id, f.subject) and m.date > f.at));
end
$$;
