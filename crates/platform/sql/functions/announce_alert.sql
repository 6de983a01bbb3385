-- Writes what happened to an alert (raised, reopened, grew, reminded, acknowledged, cleared) into the journal and onto
-- the bus, topic `alerts`, in the transaction that makes it true. Webhooks are told when it is raised and when it
-- clears; one that is reopened is `alert.raised` with `reopened`, because a program was told that it is over.
create or replace function ops.announce_alert(
    p_workspace_id uuid, p_module text, p_alert text, p_event text, p_details jsonb
) returns void language plpgsql as $$
begin
    perform ops.append_journal(p_workspace_id, p_module, 'alert_' || p_event, p_alert, null, p_details);
    perform bus.publish(p_workspace_id, 'alerts',
                        p_details || jsonb_build_object('event', p_event, 'module', p_module, 'alert', p_alert));
    if p_event in ('raised', 'cleared') then
        perform ops.emit_event(p_workspace_id, 'alert.' || p_event,
                               p_details || jsonb_build_object('module', p_module, 'alert', p_alert));
    elsif p_event = 'reopened' then
        perform ops.emit_event(p_workspace_id, 'alert.raised',
                               p_details || jsonb_build_object('module', p_module, 'alert', p_alert, 'reopened', true));
    end if;
end
$$;
