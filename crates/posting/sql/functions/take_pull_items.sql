-- Takes what one pull of a source found: the ledger, the posts, the cursor and the record of the run, in one
-- transaction.
-- p_items is a list of {"key", "payload"} in the order of posting; an item without a payload is only remembered as seen
-- (the policy of the first run). Null means that the source said it has not changed.
-- Guarantees: an item is posted once, whoever brings it and however often; one item that cannot be a post is counted as
-- rejected and the rest go on; a pull that began before another one ended changes nothing (its cursor names an older
-- `runs`) and is told `stale`; what was not committed is found again by the next pull.
-- Raises ZD006 when the source is absent or switched off.
create or replace function posting.take_pull_items(
    p_workspace_id uuid, p_source_id text, p_run_id uuid, p_items jsonb, p_cursor jsonb, p_now timestamptz default null
) returns jsonb language plpgsql as $$
declare
    now_ts constant timestamptz := coalesce(p_now, platform.now());
    before jsonb;
    found_new record;
    seen int := jsonb_array_length(coalesce(p_items, '[]'));
    fresh int := 0;
    skipped int := 0;
    enqueued int := 0;
    rejections jsonb := '[]';
    stats jsonb;
begin
    perform from posting.pull_sources s
      where s.workspace_id = p_workspace_id and s.source_id = p_source_id and s.enabled for share;
    if not found then
        raise exception 'there is no source % that is switched on', left(p_source_id, 100) using errcode = 'ZD006';
    end if;
    insert into posting.pull_cursors (workspace_id, source_id, updated_at) values (p_workspace_id, p_source_id, now_ts)
    on conflict do nothing;
    -- Runners of one source take turns from here on.
    select c.cursor_json into before from posting.pull_cursors c
     where c.workspace_id = p_workspace_id and c.source_id = p_source_id for update;

    if p_cursor ? 'runs' and (p_cursor->>'runs')::bigint <> coalesce((before->>'runs')::bigint, 0) then
        stats := '{"stale": true}';
    else
        -- A feed shows mostly what it showed before, so only what is not in the ledger is gone through one by one.
        for found_new in
            select t.item, t.item->>'key' as key, t.n
              from jsonb_array_elements(coalesce(p_items, '[]')) with ordinality t (item, n)
             where not exists (select from posting.pull_items i where i.workspace_id = p_workspace_id
                                  and i.source_id = p_source_id and i.item_key = t.item->>'key')
             order by t.n
        loop
            insert into posting.pull_items (workspace_id, source_id, item_key, taken_at)
            values (p_workspace_id, p_source_id, found_new.key, now_ts) on conflict do nothing;
            continue when not found;
            fresh := fresh + 1;
            if found_new.item->'payload' is null then
                skipped := skipped + 1;
                continue;
            end if;
            -- Whatever is wrong with one item is wrong with it tomorrow as well: it must not stop the others.
            begin
                -- A microsecond apart, so that posts of one run leave in their order.
                perform posting.enqueue_messages_and_deliveries(p_workspace_id, null, 'pull',
                    found_new.item->'payload' || jsonb_build_object('run_id', p_run_id),
                    now_ts - (seen - found_new.n) * interval '1 microsecond');
                enqueued := enqueued + 1;
            exception when sqlstate 'ZD001' or data_exception or integrity_constraint_violation then
                rejections := rejections
                    || jsonb_build_object('key', left(found_new.key, 100), 'error', left(sqlerrm, 300));
            end;
        end loop;
        update posting.pull_cursors c
           set cursor_json = coalesce(p_cursor, before)
                             || jsonb_build_object('runs', coalesce((before->>'runs')::bigint, 0) + 1),
               updated_at = now_ts
         where c.workspace_id = p_workspace_id and c.source_id = p_source_id;
        stats := jsonb_strip_nulls(jsonb_build_object(
            'seen', seen, 'new', fresh, 'enqueued', enqueued, 'duplicates', seen - fresh,
            'rejected', jsonb_array_length(rejections), 'skipped', skipped,
            'unchanged', case when p_items is null then true end,
            -- The first few say what the others are like.
            'rejections', nullif(jsonb_path_query_array(rejections, '$[0 to 9]'), '[]')));
    end if;

    insert into posting.ingest_runs (workspace_id, run_id, kind, source_id, started_at, finished_at, stats_json)
    values (p_workspace_id, p_run_id, 'pull', p_source_id, now_ts, now_ts, stats)
    on conflict (workspace_id, run_id) do update
       set finished_at = excluded.finished_at, stats_json = excluded.stats_json;
    perform bus.publish(p_workspace_id, 'posting', jsonb_build_object('run_id', p_run_id));
    return stats;
end
$$;
