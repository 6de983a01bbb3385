-- Not logged: after a crash every bucket is empty, which refuses no request, and a request that is let in waits for no
-- disk while it holds the row that all requests of its endpoint want.
create unlogged table core.endpoint_rates (
    workspace_id uuid not null,
    endpoint_id  uuid not null,
    -- When the endpoint would be idle again if nothing more came: the whole state of a leaky bucket.
    busy_until   timestamptz not null,
    -- Refusals are told at most once a second; these wait to be told.
    refused      int not null default 0,
    told_at      timestamptz,
    primary key (workspace_id, endpoint_id),
    foreign key (workspace_id, endpoint_id) references core.workspace_endpoints on delete cascade
) with (fillfactor = 50);
comment on table core.endpoint_rates is 'How much of its rate each endpoint has used.';

-- See core.trim_endpoint_rates.
grant truncate on core.endpoint_rates to beresta_system;

select platform.protect('core.endpoint_rates');
