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

-- Whose bots post: only where their tokens are kept. `beresta seed` names files that it made; by hand, set the variables.
insert into posting.credential_bindings (workspace_id, auth_ref, platform, secret_ref)
select w.workspace_id, g.auth_ref, g.platform, coalesce(nullif(current_setting('seed.' || g.platform || '_secret_ref', true), ''), g.secret_ref)
  from core.workspaces w,
       (values ('demo-telegram', 'telegram', 'env:BERESTA_DEMO_TELEGRAM_TOKEN'),
               ('demo-max', 'max', 'env:BERESTA_DEMO_MAX_TOKEN')) g (auth_ref, platform, secret_ref)
 where w.name = 'demo'
on conflict (workspace_id, auth_ref, platform) do update set secret_ref = excluded.secret_ref, updated_at = platform.now();

-- What each bot may send in a second, over all its channels.
insert into posting.platform_limits (workspace_id, platform, rate_group, rate_rps)
select w.workspace_id, g.platform, g.rate_group, 30
  from core.workspaces w, (values ('telegram', 'demo-telegram'), ('max', 'demo-max')) g (platform, rate_group)
 where w.name = 'demo'
on conflict do nothing;

-- Forty channels: a row is all that a channel needs. Those with a filter take only what their tags let in.
with given (channel_id, platform, target_id, title, tags, route_filter) as (
    select 'tg-' || to_char(n, 'FM00'), 'telegram', (-1001000000000 - n)::text, 'Канал ' || n, '{}'::text[], null::jsonb
      from generate_series(1, 20) n
    union all
    select 'max-' || to_char(n, 'FM00'), 'max', (-70000000000000 - n)::text, 'Канал MAX ' || n, '{}', null
      from generate_series(1, 12) n
    union all
    values ('tg-crypto', 'telegram', '-1001000000101', 'Крипта', '{crypto}'::text[], '{"include_any": ["crypto"]}'::jsonb),
           ('tg-listing', 'telegram', '-1001000000102', 'Листинги', '{crypto,listing}', '{"include_all": ["crypto", "listing"]}'),
           ('tg-kids', 'telegram', '-1001000000103', 'Детям', '{kids}', '{"exclude": ["nsfw", "crypto"]}'),
           ('tg-ru', 'telegram', '-1001000000104', 'На русском', '{ru}', '{"include_any": ["ru"], "exclude": ["nsfw"]}'),
           ('max-crypto', 'max', '-70000000000101', 'Крипта в MAX', '{crypto}', '{"include_any": ["crypto"]}'),
           ('max-listing', 'max', '-70000000000102', 'Листинги в MAX', '{crypto,listing}', '{"include_all": ["crypto", "listing"]}'),
           ('max-kids', 'max', '-70000000000103', 'Детям в MAX', '{kids}', '{"exclude": ["nsfw", "crypto"]}'),
           ('max-ru', 'max', '-70000000000104', 'На русском в MAX', '{ru}', '{"include_any": ["ru"], "exclude": ["nsfw"]}')
)
insert into posting.channels (workspace_id, channel_id, platform, target_id, auth_ref, rate_group, title, rate_rps, max_parallel, tags, route_filter, settings)
select w.workspace_id, g.channel_id, g.platform, g.target_id, 'demo-' || g.platform, 'demo-' || g.platform, g.title,
       case g.platform when 'max' then 2 else 1 end, 1, posting.canonical_tags(g.tags), g.route_filter, '{"parse_mode": "HTML"}'
  from given g, core.workspaces w
 where w.name = 'demo'
on conflict do nothing;
