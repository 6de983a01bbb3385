insert into ops.event_types values ('action.timed_out', 'the watchdog ended an action whose deadline was over');
