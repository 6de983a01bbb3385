-- Ties a person that tokens name to a Telegram user of the allowlist: their assistants ask as that user from now on,
-- and as no other. Again: nothing happens.
create or replace function knowledge.tie_person(p_workspace_id uuid, p_user_id bigint, p_person text) returns void
language plpgsql as $$
begin
    perform from knowledge.people p
      where (p.workspace_id, p.person, p.tg_user_id) = (p_workspace_id, p_person, p_user_id);
    if found then
        return;
    end if;
    insert into knowledge.people as p (workspace_id, person, tg_user_id) values (p_workspace_id, p_person, p_user_id)
    on conflict (workspace_id, person) do update set tg_user_id = excluded.tg_user_id, tied_at = platform.now();
    perform ops.append_journal(p_workspace_id, 'knowledge', 'person_tied', p_user_id::text);
end
$$;
