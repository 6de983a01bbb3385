-- Retention asks for what waited for a week and has not ended: a handful of rows, found without reading the others.
create index webhook_deliveries_unended on ops.webhook_deliveries (created_at) where ended_at is null;
