-- When there may next be something to claim in a workspace: the earliest time that the oldest unfinished answer of a
-- chat and its bot wait for. The sender of an answer waits for it by itself.
create or replace function shopbot.next_answer_at(p_workspace_id uuid)
returns timestamptz language sql stable
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
    -- As claim_answers counts: one more answer fits into the burst.
    select min(greatest(h.next_retry_at, b.closed_until,
                        b.next_allowed_at
                            - greatest(interval '0',
                                       interval '200 milliseconds' - interval '1 second' / b.rate_rps::float8)))
      from shopbot.bots b
      join core.bots r on r.workspace_id = b.workspace_id and r.bot_id = b.bot_id and r.enabled
      join core.workspaces w on w.workspace_id = b.workspace_id and w.status = 'active'
     cross join lateral (
           select distinct on (o.chat_id) o.status, o.next_retry_at from shopbot.bot_outbox o
            where o.workspace_id = b.workspace_id and o.bot_id = b.bot_id and o.phase = 'open'
            order by o.chat_id, o.seq) h
     where b.workspace_id = p_workspace_id and h.status in ('queued', 'retry')
$$;
