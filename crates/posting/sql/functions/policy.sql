-- The policy of a workspace; a workspace that has none yet gets the defaults as a row that one can see and change.
create or replace function posting.policy(p_workspace_id uuid) returns posting.policies language plpgsql as $$
declare
    found_policy posting.policies;
begin
    select * into found_policy from posting.policies p where p.workspace_id = p_workspace_id;
    if not found then
        insert into posting.policies (workspace_id) values (p_workspace_id)
        on conflict (workspace_id) do update set workspace_id = excluded.workspace_id
        returning * into found_policy;
    end if;
    return found_policy;
end
$$;
