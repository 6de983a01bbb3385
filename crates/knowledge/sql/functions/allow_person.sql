-- Puts a person on the allowlist, or changes their role or name; what is null stays. Again: nothing happens.
create or replace function knowledge.allow_person(p_workspace_id uuid, p_user_id bigint, p_role text, p_name text)
returns core.tenant_users language plpgsql as $$
declare
    before core.tenant_users;
    person core.tenant_users;
begin
    select * into before from core.tenant_users u where (u.workspace_id, u.tg_user_id) = (p_workspace_id, p_user_id);
    insert into core.tenant_users as u (workspace_id, tg_user_id, role, name)
    values (p_workspace_id, p_user_id, coalesce(p_role, 'user'), p_name)
    on conflict (workspace_id, tg_user_id) do update
       set role = coalesce(p_role, u.role), name = coalesce(p_name, u.name)
    returning * into person;
    if before is distinct from person then
        perform ops.append_journal(p_workspace_id, 'knowledge', 'person_allowed', p_user_id::text, null,
                                   jsonb_build_object('role', person.role));
    end if;
    return person;
end
$$;
