-- What of a post waits and was never tried, and the edits of it that wait, will not be sent any more. A retry may have
-- arrived, so it is not withdrawn: the deletion follows it instead. Returns how many were withdrawn.
create or replace function posting.withdraw(p_workspace_id uuid, p_message_id uuid, p_trace_id text, p_actor text)
returns int
language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    withdrawn int;
begin
    with ended as (
        update posting.deliveries d
           set status = 'failed_permanent', updated_at = now_ts,
               last_error =
                   '{"category": "PERMANENT", "scope": "delivery",
                     "code": "withdrawn", "message": "the post was deleted before it was sent"}'
         where d.workspace_id = p_workspace_id and d.status = 'queued' and d.attempt = 0
           and (d.message_id = p_message_id
                or d.message_id in (select m.message_id from posting.messages m
                                     where m.workspace_id = p_workspace_id and m.of_message_id = p_message_id
                                       and m.payload->>'type' <> 'delete'))
        returning d.delivery_id, d.message_id, d.channel_id, d.attempt, d.last_error
    )
    insert into posting.events (workspace_id, delivery_id, message_id, channel_id, ts, action, attempt, result, error,
                                meta)
    select p_workspace_id, e.delivery_id, e.message_id, e.channel_id, now_ts, 'withdrawn', e.attempt, 'ok',
           e.last_error,
           jsonb_build_object('trace_id', p_trace_id, 'actor', p_actor)
      from ended e;
    get diagnostics withdrawn = row_count;
    return withdrawn;
end
$$;
