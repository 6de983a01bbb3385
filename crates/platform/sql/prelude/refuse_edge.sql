-- Called by the trigger of a state machine when the edge is not one of those that its specification lists.
-- The trigger's WHEN clause knows the edges, so that an allowed update never pays for a function call.
-- Raises ZP003.
create or replace function platform.refuse_edge() returns trigger language plpgsql as $$
begin
    raise exception 'a row of % cannot go from % to %', tg_table_name, old.status, new.status
        using errcode = 'ZP003';
end
$$;
