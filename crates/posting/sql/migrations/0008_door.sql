-- The door is the platform's now: core.admit, core.endpoint_rates. What a bucket held is worth nothing a second later.
drop function if exists posting.admit(text, text, bigint);
drop table posting.ingress_rates;
-- It takes the hash of what was sent, too.
drop function if exists posting.enqueue_messages_and_deliveries(uuid, uuid, text, jsonb, timestamptz);
