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

do $$
begin
    if not pg_has_role(current_user, 'beresta_app', 'member') or not pg_has_role(current_user, 'beresta_system', 'member') then
        execute format('grant beresta_app, beresta_system to %I', current_user);
    end if;
end
$$;
