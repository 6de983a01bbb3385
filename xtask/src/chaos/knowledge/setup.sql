-- The workspace of a chaos run of knowledge: a bot, four registered groups, five people and an administrator.
select core.create_workspace('chaos');

insert into core.bots (workspace_id, provider, name, secret_ref, serves)
select workspace_id, 'telegram', 'archive', 'env:CHAOS_TELEGRAM_TOKEN', 'knowledge' from core.workspaces where name = 'chaos';

insert into core.workspace_endpoints (workspace_id, kind, secret_hash, bot_id, ingress_rps)
select workspace_id, 'bot_webhook', encode(sha256('chaos-telegram-secret'), 'hex'), bot_id, 10000
  from core.bots where workspace_id = (select workspace_id from core.workspaces where name = 'chaos');

select core.create_token(workspace_id, 'chaos', encode(sha256('chaos-token-of-the-archive'), 'hex'), array['write'], null)
  from core.workspaces where name = 'chaos';

insert into core.tenant_users (workspace_id, tg_user_id, role)
select workspace_id, 7000000000 + n, case when n = 99 then 'admin' else 'user' end
  from core.workspaces, unnest(array[1, 2, 3, 4, 5, 99]) n where name = 'chaos';

select knowledge.register_chat(b.workspace_id, -1009000000000 - n, b.bot_id, 7000000099)
  from core.bots b, generate_series(1, 4) n where b.workspace_id = (select workspace_id from core.workspaces where name = 'chaos');
