-- Roles live in the cluster, not in one database, so another installation may have made them already.
do $$
begin
    if not exists (select from pg_roles where rolname = 'beresta_app') then
        create role beresta_app nologin;
    end if;
    if not exists (select from pg_roles where rolname = 'beresta_system') then
        create role beresta_system nologin;
    end if;
exception when duplicate_object or unique_violation then
    null;
end
$$;

-- Whoever installs steps into these roles. A database administrator may have granted them already, and then we
-- need not be allowed to.
do $$
begin
    execute format('grant beresta_app, beresta_system to %I', current_user);
exception when insufficient_privilege then
    raise notice 'the roles beresta_app and beresta_system have to be granted to % by an administrator', current_user;
end
$$;
