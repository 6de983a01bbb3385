-- Records what came of attempts in one workspace, all in one transaction. p_results is a list of what record_result
-- takes; of each delivery it says what became of it.
create or replace function webhooks.record_results(p_workspace_id uuid, p_results jsonb)
returns table (delivery_id uuid, outcome text) language plpgsql as $$
#variable_conflict use_column
declare
    result jsonb;
begin
    -- Subscriptions before deliveries, each in the order of their keys, here as everywhere.
    perform from core.webhook_subscriptions s
      where s.workspace_id = p_workspace_id and s.subscription_id in (
            select d.subscription_id from ops.webhook_deliveries d
             where d.workspace_id = p_workspace_id
               and d.delivery_id in (select (r->>'delivery_id')::uuid from jsonb_array_elements(p_results) r))
      order by s.subscription_id for no key update;
    for result in select r from jsonb_array_elements(p_results) r order by (r->>'delivery_id')::uuid loop
        delivery_id := (result->>'delivery_id')::uuid;
        outcome := webhooks.record_result(p_workspace_id, result);
        return next;
    end loop;
    perform bus.publish(p_workspace_id, 'webhooks', jsonb_build_object('recorded', jsonb_array_length(p_results)));
end
$$;
