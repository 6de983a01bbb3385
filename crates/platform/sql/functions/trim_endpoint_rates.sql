-- Empties core.endpoint_rates when dead versions have piled up in it, as they do while a transaction that runs for
-- minutes keeps vacuum from clearing them: a look-up then steps over all of them. An empty table refuses no request.
create or replace function core.trim_endpoint_rates() returns void language plpgsql as $$
begin
    if pg_relation_size('core.endpoint_rates') > 1048576 then
        truncate core.endpoint_rates;
    end if;
end
$$;
