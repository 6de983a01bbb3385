-- Tells every subscription that asks for this type of event, inside the transaction that makes it true: the deliveries
-- exist exactly if the transaction commits. Costs one look at a small table when no subscription asks. p_data is one
-- object per event, redacted by the caller: ids, names, counts, reasons. An event with a key (of p_keys, by position)
-- is told once to each subscription, however often it is emitted while its delivery is kept. Publishes on the topic
-- `webhooks` that there are new deliveries. Returns how many were made.
create or replace function ops.emit_events(
    p_workspace_id uuid, p_event_type text, p_data jsonb[], p_keys text[] default null
) returns int language plpgsql as $$
declare
    made int;
begin
    if not ops.is_event_wanted(p_workspace_id, p_event_type) then
        return 0;
    end if;
    with events as materialized (
        select platform.new_id() as event_id, p_event_type || ':' || left(e.key, 400) as event_key,
               ops.event_body(p_event_type, e.data) as body
          from unnest(p_data, p_keys) e (data, key)
    )
    insert into ops.webhook_deliveries (workspace_id, subscription_id, event_id, event_type, event_key, body)
    select p_workspace_id, s.subscription_id, e.event_id, p_event_type, e.event_key, e.body
      from core.webhook_subscriptions s cross join events e
     where s.workspace_id = p_workspace_id and s.status <> 'disabled' and s.events && ops.event_patterns(p_event_type)
    on conflict (workspace_id, subscription_id, event_key) where event_key is not null do nothing;
    get diagnostics made = row_count;
    if made > 0 then
        perform bus.publish(p_workspace_id, 'webhooks', jsonb_build_object('queued', made));
    end if;
    return made;
end
$$;
