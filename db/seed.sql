-- The demo workspace. `beresta seed` loads it and gives the hashes of freshly made secrets as settings of the
-- transaction; loaded by hand without them, it makes everything but the endpoints. Safe to repeat.

select core.create_workspace('demo');

-- Where the outside world comes in: posts by push, and the webhooks of the two bots.
with given (name, kind, provider, secret_hash) as (
    values ('push', 'webhook_push', null, current_setting('seed.push_secret_hash', true)),
           ('max', 'bot_webhook', 'max', current_setting('seed.max_secret_hash', true)),
           ('telegram', 'bot_webhook', 'telegram', current_setting('seed.telegram_secret_hash', true))
), demo as (
    select workspace_id from core.workspaces where name = 'demo'
), rotated as (
    -- A new secret replaces the old one, whose row stays as history.
    update core.workspace_endpoints e set enabled = false, updated_at = platform.now()
      from given g, demo
     where e.workspace_id = demo.workspace_id and e.enabled and e.meta->>'name' = g.name
       and nullif(g.secret_hash, '') is not null and e.secret_hash <> g.secret_hash
)
insert into core.workspace_endpoints (workspace_id, kind, secret_hash, ingress_rps, meta)
select demo.workspace_id, g.kind, g.secret_hash, 50,
       jsonb_strip_nulls(jsonb_build_object('name', g.name, 'provider', g.provider))
  from given g, demo
 where nullif(g.secret_hash, '') is not null
on conflict (kind, secret_hash) where enabled do nothing;
