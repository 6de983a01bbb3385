-- Tells the outside of those among these deliveries that have ended without success: `delivery.failed` and
-- `delivery.dead`.
create or replace function posting.tell_failed(p_workspace_id uuid, p_delivery_ids uuid[]) returns void
language plpgsql as $$
declare
    told record;
begin
    for told in
        select * from (values ('delivery.failed', 'failed_permanent'), ('delivery.dead', 'dead')) t (event_type, status)
    loop
        continue when not ops.is_event_wanted(p_workspace_id, told.event_type);
        perform ops.emit_events(p_workspace_id, told.event_type, array_agg(jsonb_strip_nulls(jsonb_build_object(
                    'delivery_id', d.delivery_id, 'post_id', d.message_id, 'channel_id', d.channel_id,
                    'channel', c.title, 'platform', c.platform, 'operation', d.operation, 'attempt', d.attempt,
                    'trace_id', d.trace_id,
                    'error', jsonb_build_object('code', d.last_error->'code', 'message', d.last_error->'message')))
                    order by d.delivery_id))
           from posting.deliveries d
           join posting.channels c on c.workspace_id = d.workspace_id and c.channel_id = d.channel_id
          where d.workspace_id = p_workspace_id and d.delivery_id = any (p_delivery_ids) and d.status = told.status
         having count(*) > 0;
    end loop;
end
$$;
