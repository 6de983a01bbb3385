-- The journal publishes what the planner records, on the topic of its source: a name of its own is not needed.
drop function if exists planner.topic();
