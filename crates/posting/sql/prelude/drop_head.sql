-- Forgets where a queue begins: see posting.find_heads.
create or replace function posting.drop_head() returns trigger language plpgsql as $$
begin
    delete from posting.queue_heads h where h.workspace_id = new.workspace_id and h.channel_id = new.channel_id;
    return null;
end
$$;
