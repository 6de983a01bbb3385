-- Whether an edit or a deletion may go now: what it follows has come to its end, and nothing that follows it is older.
create or replace function posting.can_follow(p_workspace_id uuid, p_of_delivery_id uuid, p_delivery_id uuid)
returns boolean
language sql stable as $$
    select not exists (select from posting.deliveries b
                        where b.workspace_id = p_workspace_id and b.delivery_id = p_of_delivery_id
                          and b.phase = 'inflight')
       and not exists (select from posting.deliveries o
                        where o.workspace_id = p_workspace_id and o.of_delivery_id = p_of_delivery_id
                          and o.phase = 'inflight' and o.delivery_id < p_delivery_id)
$$;
