-- Where the console of a workspace hears of previews and batches.
create or replace function planner.topic() returns text language sql immutable parallel safe as $$
    select 'planner'
$$;
