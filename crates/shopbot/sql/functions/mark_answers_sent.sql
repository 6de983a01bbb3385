-- Records successes, all in one transaction, and says of each what became of it:
--   sent                the holder of the lease says so
--   late                the lease was lost, but nobody sent again: taken, so that nobody will
--   repeated            it was recorded already, with this very provider message
--   possible_duplicate  the lease was lost and somebody else sends or has sent: written into the journal, for a person
--   to see
--   unknown             there is no such answer any more
create or replace function shopbot.mark_answers_sent(
    p_workspace_ids uuid[], p_answer_ids uuid[], p_claim_tokens text[], p_provider_message_ids text[],
    p_sent_at timestamptz[]
) returns table (answer_id uuid, outcome text) language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
    as $$
#variable_conflict use_column
declare
    now_ts constant timestamptz := platform.now();
    done uuid[];
    lost record;
begin
    -- All in one order: the late ones of one sender may be another's own.
    perform from shopbot.bot_outbox o
      join unnest(p_workspace_ids, p_answer_ids) g (workspace_id, id) on o.workspace_id = g.workspace_id
          and o.answer_id = g.id
     order by o.workspace_id, o.answer_id for no key update of o;
    with finished as (
        update shopbot.bot_outbox o
           set status = 'sent', provider_message_id = g.message, sent_at = g.at, claim_token = null,
               claimed_until = null, last_error = null,
               updated_at = now_ts
          from unnest(p_workspace_ids, p_answer_ids, p_claim_tokens, p_provider_message_ids, p_sent_at) g (workspace_id,
                  id, token, message, at)
         where o.workspace_id = g.workspace_id and o.answer_id = g.id and o.status = 'sending'
           and o.claim_token = g.token
        returning o.workspace_id, o.answer_id
    ), told as (
        select bus.publish(f.workspace_id, 'shopbot', jsonb_build_object('sent', count(*))) from finished f
         group by f.workspace_id
    )
    select array_agg(f.answer_id) into done from finished f left join told on false;
    return query select i, 'sent' from unnest(done) i;
    for lost in
        select g.* from unnest(p_workspace_ids, p_answer_ids, p_claim_tokens, p_provider_message_ids,
                               p_sent_at) g (workspace_id, id, token, message, at)
         where g.id <> all (coalesce(done, '{}')) order by g.workspace_id, g.id
    loop
        answer_id := lost.id;
        outcome := shopbot.mark_sent_late(lost.workspace_id, lost.id, lost.message, lost.at);
        return next;
    end loop;
end
$$;
