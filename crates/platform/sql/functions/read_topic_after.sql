-- What was published to one topic after a position, in order: how a subscriber catches up.
-- Raises ZP006 when something after that position may have been forgotten already, or the position is from
-- another database: the gap cannot be filled and the subscriber has to start over.
create or replace function bus.read_topic_after(p_workspace_id uuid, p_topic text, p_position text, p_limit int)
returns table ("position" text, payload jsonb) language plpgsql as $$
declare
    after_xid xid8 := split_part(p_position, '-', 1)::xid8;
    after_id bigint := split_part(p_position, '-', 2)::bigint;
    horizon xid8 := pg_snapshot_xmin(pg_current_snapshot());
begin
    if after_xid <= (select f.xid from bus.forgotten f) or after_xid > pg_snapshot_xmax(pg_current_snapshot()) then
        raise exception 'what followed position % is not kept any more', p_position using errcode = 'ZP006';
    end if;
    return query
        select m.xid::text || '-' || m.id, m.payload
          from bus.messages m
         where m.workspace_id = p_workspace_id and m.topic = p_topic
           and m.xid >= after_xid and m.xid < horizon and (m.xid, m.id) > (after_xid, after_id)
         order by m.xid, m.id limit p_limit;
    -- Retention may have run in between, and what it took would be missing without a word. Volatile, so that this looks
    -- again.
    if after_xid <= (select f.xid from bus.forgotten f) then
        raise exception 'what followed position % is not kept any more', p_position using errcode = 'ZP006';
    end if;
end
$$;
