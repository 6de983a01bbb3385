-- Makes a table append-only for everybody: a trigger refuses, and the roles lose the right as well.
create or replace function platform.append_only(p_table regclass) returns void language plpgsql as $$
begin
    execute format('create trigger append_only before update or delete on %s
                    for each row execute function platform.refuse_change()', p_table);
    execute format('create trigger append_only_truncate before truncate on %s
                    for each statement execute function platform.refuse_change()', p_table);
end
$$;
