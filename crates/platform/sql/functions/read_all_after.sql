-- What was published after a position, in order, for the process that hands it on to its subscribers.
-- Reads only behind the oldest running transaction. `is_more_coming` on a row without a message says that
-- something newer is committed already but has to wait for such a transaction.
create or replace function bus.read_all_after(p_position text, p_limit int)
returns table (topic text, workspace_id uuid, "position" text, payload jsonb, is_more_coming boolean)
language plpgsql stable as $$
declare
    after_xid xid8 := split_part(p_position, '-', 1)::xid8;
    after_id bigint := split_part(p_position, '-', 2)::bigint;
    horizon xid8 := pg_snapshot_xmin(pg_current_snapshot());
begin
    return query
        select m.topic, m.workspace_id, m.xid::text || '-' || m.id, m.payload, false
          from bus.messages m
         where m.xid >= after_xid and m.xid < horizon and (m.xid, m.id) > (after_xid, after_id)
         order by m.xid, m.id limit p_limit;
    return query
        select null::text, null::uuid, null::text, null::jsonb, true
         -- By the last message and not by EXISTS, which is planned as a walk over everything that is kept.
         where (select m.xid from bus.messages m order by m.xid desc, m.id desc limit 1) >= horizon;
end
$$;
