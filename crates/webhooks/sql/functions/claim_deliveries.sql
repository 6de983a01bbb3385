-- Takes up to p_limit deliveries that are due in a workspace, for the holder of p_claim_token. The attempt counts from
-- here: a process that dies while it sends reaches no other line of ours. Returns all that is needed to send them.
-- Guarantees: a delivery has at most one claim; of a subscription no more are under way than its limit, and only one
-- while it fails, so that a slow receiver takes no place of the others; each subscription gets its first delivery
-- before any gets its second. A claim holds the rows of its subscriptions; another one skips those and comes back.
create or replace function webhooks.claim_deliveries(
    p_workspace_id uuid, p_claim_token text, p_limit int, p_lease interval
) returns table (delivery_id uuid, subscription_id uuid, name text, url text, secret_ref text, old_secret_ref text,
                 event_id uuid, body text, attempt int, claim_token text) language plpgsql as $$
#variable_conflict use_column
declare
    now_ts constant timestamptz := platform.now();
    open_ids uuid[];
begin
    open_ids := array(
        select s.subscription_id from core.webhook_subscriptions s
         where s.workspace_id = p_workspace_id and s.status = 'active' and coalesce(s.closed_until, now_ts) <= now_ts
           and exists (select from core.workspaces w where w.workspace_id = p_workspace_id and w.status = 'active')
         order by s.subscription_id for no key update skip locked);
    -- A statement of its own: it sees what the last holder of these rows has claimed.
    return query
        with room as (
            select s.*, case when s.failures >= 5 then 1 else s.parallel_max end - (
                       select count(*) from ops.webhook_deliveries d
                        where d.workspace_id = p_workspace_id and d.subscription_id = s.subscription_id
                          and d.status = 'sending') as places
              from core.webhook_subscriptions s
             where s.workspace_id = p_workspace_id and s.subscription_id = any (open_ids)
        ), due as (
            select d.delivery_id, d.next_attempt_at,
                   row_number() over (partition by r.subscription_id order by d.next_attempt_at, d.delivery_id) as turn
              from room r
             cross join lateral (
                   select d.delivery_id, d.next_attempt_at from ops.webhook_deliveries d
                    where d.workspace_id = p_workspace_id and d.subscription_id = r.subscription_id
                      and d.status in ('queued', 'retry') and d.next_attempt_at <= now_ts
                    order by d.next_attempt_at, d.delivery_id limit greatest(r.places, 0)) d
        ), claimed as (
            update ops.webhook_deliveries d
               set status = 'sending', attempt = d.attempt + 1, claim_token = p_claim_token,
                   claimed_until = now_ts + p_lease
             where d.workspace_id = p_workspace_id and d.status in ('queued', 'retry')
               and d.delivery_id = any (array(
                   select u.delivery_id from due u order by u.turn, u.next_attempt_at limit p_limit))
            returning d.*
        )
        select c.delivery_id, s.subscription_id, s.name, s.url, s.secret_ref,
               case when s.old_secret_until > now_ts then s.old_secret_ref end,
               c.event_id, c.body, c.attempt, c.claim_token
          from claimed c join room s on s.subscription_id = c.subscription_id
         order by c.delivery_id;
end
$$;
