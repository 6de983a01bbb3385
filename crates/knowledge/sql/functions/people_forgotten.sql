-- Which of these people were forgotten and have said nothing since: their names do not come back with what others
-- forward, answer or tell of them.
create or replace function knowledge.people_forgotten(p_workspace_id uuid, p_user_ids numeric[]) returns bigint[]
language sql stable as $$
    select coalesce(array_agg(f.subject), '{}') from tg.forgotten f
     where (f.workspace_id, f.kind, f.chat_id) = (p_workspace_id, 'person', 0) and f.subject = any (p_user_ids)
       and not exists (select from tg.messages m
                        where (m.workspace_id, m.tg_user_id) = (p_workspace_id, f.subject) and m.date > f.at)
$$;
