-- Looks for what is wrong with posting, and tells: see ops.check_alerts. Returns how many alerts were told.
create or replace function posting.check_alerts() returns int language sql as $$
    select c.told from ops.check_alerts('posting') c
$$;
