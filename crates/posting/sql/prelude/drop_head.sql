-- Forgets where a queue begins: see posting.find_heads.
create or replace function posting.drop_head() returns trigger language plpgsql as $$
begin
    update posting.queue_heads h set head_at = '-infinity', next_at = null, next_xid = null, drops = h.drops + 1
     where h.workspace_id = new.workspace_id and h.channel_id = new.channel_id
       and (h.head_at > '-infinity' or h.next_at is not null);
    return null;
end
$$;
