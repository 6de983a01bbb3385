-- What stays of a raw update once it was read: nothing of what was forgotten, neither what it repeats of a forgotten
-- message nor the name of a forgotten person.
create or replace function knowledge.kept_of_update(p_workspace_id uuid, p_chat_id bigint, p_body jsonb) returns jsonb
language plpgsql stable as $$
declare
    gone bigint;
begin
    if knowledge.quotes_forgotten(p_workspace_id, p_chat_id, p_body) then
        p_body := knowledge.without_quotes(p_body);
    end if;
    foreach gone in array knowledge.people_forgotten(p_workspace_id, p_body, '[]') loop
        p_body := knowledge.without_names(p_body, gone);
    end loop;
    return p_body;
end
$$;
