-- The place of the last message behind the oldest running transaction: a reader that starts here misses nothing that
-- commits later. It is the place of something that is on disk. The id of a transaction alone is not: after a crash of
-- the database ids are given again that nothing on disk had used, and whoever held one as a place would miss what is
-- published under it. Of all workspaces, whoever asks: it is a number, and for one workspace alone no index would know
-- it. Never a place that is forgotten already: a transaction that has been running since before that, in whichever
-- database, keeps nobody from listening.
create or replace function bus.position()
returns text language sql stable security definer set search_path = pg_catalog as $$
    select case when m.xid > f.xid then m.xid::text || '-' || m.id else (f.xid::text::numeric + 1)::text || '-0' end
      from bus.forgotten f
      left join lateral (select x.xid, x.id from bus.messages x where x.xid < pg_snapshot_xmin(pg_current_snapshot())
                          order by x.xid desc, x.id desc limit 1) m on true
$$;
