-- Whether the watchdog ended it. A bot may say `timeout` of itself as well, and its repeats are repeats.
alter table actions.actions add column is_timed_out boolean not null default false;
update actions.actions set is_timed_out = true
 where status = 'error' and payload->>'code' = 'timeout' and ended_at >= deadline;
alter table actions.actions add constraint actions_timed_out_is_an_error check (not is_timed_out or status = 'error');
