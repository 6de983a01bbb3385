-- Puts deliveries that ended without success (p_from: dead, failed_permanent) back in line. The rule behind
-- requeue_dead and requeue_failed: due at once, the attempts stay as they are, one `manual_requeue` event each, all in
-- one transaction. p_delivery_ids null takes all of them, but of the failed ones only those whose outcome is known: for
-- the others a person decides one by one (posting.settle).
-- Raises ZD002 when one of the named is in another status or failed because of its channel or platform, ZD003 when one
-- does not exist, ZD005 without operator or reason; then nothing is changed at all.
create or replace function posting.requeue(
    p_workspace_id uuid, p_delivery_ids uuid[], p_from text, p_operator text, p_reason text
) returns table (delivery_id uuid, message_id uuid, channel_id text, attempt int) language plpgsql as $$
#variable_conflict use_column
declare
    now_ts constant timestamptz := platform.now();
    note constant jsonb := posting.manual_note(p_operator, p_reason) || jsonb_build_object('from_status', p_from);
    ids uuid[];
    wrong record;
begin
    -- Locked in one order, so that two operators never wait for each other crosswise.
    ids := array(
        select d.delivery_id from posting.deliveries d
         where d.workspace_id = p_workspace_id and d.phase = p_from
           and (p_delivery_ids is null or d.delivery_id = any (p_delivery_ids))
           and (p_from = 'dead'
                or (coalesce(d.last_error->>'scope', 'delivery') = 'delivery'
                    and (p_delivery_ids is not null or platform.error_kind(d.last_error) <> 'unknown_outcome')))
         order by d.delivery_id for update);
    select n.id, d.status, d.last_error->>'scope' as scope into wrong
      from unnest(p_delivery_ids) n (id)
      left join posting.deliveries d on d.workspace_id = p_workspace_id and d.delivery_id = n.id
     where n.id <> all (ids)
     order by n.id limit 1;
    if found then
        if wrong.status is null then
            raise exception 'there is no delivery %', wrong.id using errcode = 'ZD003';
        elsif wrong.status <> p_from then
            raise exception 'delivery % is %', wrong.id, wrong.status
                using errcode = 'ZD002',
                      hint = format('only what is %s can be requeued this way; nothing was changed', p_from);
        end if;
        raise exception 'delivery % failed because of its %', wrong.id, wrong.scope
            using errcode = 'ZD002', hint = 'mend that and send the post in again; nothing was changed';
    end if;
    return query
        with moved as (
            update posting.deliveries d
               set status = 'retry', next_retry_at = now_ts, claimed_at = null, claim_token = null,
                   sending_started_at = null, updated_at = now_ts
             where d.workspace_id = p_workspace_id and d.delivery_id = any (ids)
            returning d.delivery_id, d.message_id, d.channel_id, d.attempt
        ), told as (
            insert into posting.events (workspace_id, delivery_id, message_id, channel_id, ts, action, attempt, result,
                                        meta)
            select p_workspace_id, m.delivery_id, m.message_id, m.channel_id, now_ts, 'manual_requeue', m.attempt, 'ok',
                   note
              from moved m
        )
        select m.delivery_id, m.message_id, m.channel_id, m.attempt from moved m order by m.delivery_id;
    perform bus.publish(p_workspace_id, 'posting', jsonb_build_object('message_id', m.message_id))
       from (select distinct d.message_id from posting.deliveries d
              where d.workspace_id = p_workspace_id and d.delivery_id = any (ids)) m;
end
$$;
