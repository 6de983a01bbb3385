-- Whether a subscription of this workspace asks for events of this type: one look at a small table, so that a busy
-- path can ask before it gathers what it would tell. A paused subscription collects events, a disabled one does not.
create or replace function ops.is_event_wanted(p_workspace_id uuid, p_event_type text) returns boolean
language sql stable as $$
    select exists (select from core.webhook_subscriptions s
                    where s.workspace_id = p_workspace_id and s.status <> 'disabled'
                      and s.events && ops.event_patterns(p_event_type))
$$;
