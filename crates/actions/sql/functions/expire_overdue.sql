-- Ends actions whose deadline is over as errors with the code `timeout`: whoever did them is gone, or has forgotten to
-- say so. Guarantee: one winner among many watchdogs, and among a watchdog and whoever ends the action at the same
-- moment. The text goes, because it says what was being done; the rest of the payload stays. Returns how many there
-- were; call again while it is as many as asked for.
create or replace function actions.expire_overdue(p_limit int default 100) returns int language plpgsql as $$
declare
    overdue actions.actions;
    action actions.actions;
    told jsonb;
    ended int := 0;
begin
    for overdue in
        select * from actions.actions a
         where a.status = 'processing' and a.deadline <= platform.now()
         order by a.deadline limit p_limit
           for no key update skip locked
    loop
        told := coalesce(overdue.payload, '{}') || '{"code": "timeout"}';
        if pg_column_size(told) > 32768 then
            -- A payload that was full already makes room for the code: nobody can be left processing for it.
            told := '{"code": "timeout"}';
        end if;
        update actions.actions a
           set status = 'error', is_timed_out = true, display_text = null, payload = told,
               updated_at = greatest(platform.now(), a.updated_at + interval '1 microsecond'), ended_at = platform.now()
         where a.workspace_id = overdue.workspace_id and a.action_id = overdue.action_id
        returning * into action;
        perform actions.tell_action(action, 'action_timeout', null);
        perform ops.emit_event(action.workspace_id, 'action.timed_out',
                               jsonb_build_object('action_id', action.action_id,
            'chat_id', action.chat_id, 'action_type', action.action_type, 'started_at',
                platform.stamp(action.created_at),
            'deadline', platform.stamp(action.deadline)));
        ended := ended + 1;
    end loop;
    return ended;
end
$$;
