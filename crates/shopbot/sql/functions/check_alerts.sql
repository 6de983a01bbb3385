-- Looks for what is wrong with the bots, and tells: see ops.check_alerts. Returns how many alerts were told.
create or replace function shopbot.check_alerts() returns int language sql as $$
    select c.told from ops.check_alerts('shopbot') c
$$;
