-- A bot's token and whether it is on are the registry's to know (core.bots); what it says, and its limits, stay here.
alter table shopbot.bots add bot_id uuid;

-- The owner of the tables sees no workspace's rows while row security is forced on it.
alter table shopbot.bots no force row level security;
alter table core.bots no force row level security;
alter table core.workspace_endpoints no force row level security;

insert into core.bots (workspace_id, provider, name, secret_ref, serves, enabled, created_at)
select b.workspace_id, b.provider, 'shopbot-' || b.provider, b.secret_ref, 'shopbot', b.enabled, b.created_at
  from shopbot.bots b;
update shopbot.bots b set bot_id = r.bot_id
  from core.bots r where r.workspace_id = b.workspace_id and r.provider = b.provider and r.serves = 'shopbot';
update core.workspace_endpoints e set bot_id = b.bot_id
  from shopbot.bots b
 where e.workspace_id = b.workspace_id and e.kind = 'bot_webhook' and e.meta->>'provider' = b.provider;

alter table shopbot.bots force row level security;
alter table core.bots force row level security;
alter table core.workspace_endpoints force row level security;

alter table shopbot.bots alter bot_id set not null, drop secret_ref, drop enabled,
    add constraint bot_is_registered foreign key (workspace_id, bot_id, provider)
        references core.bots (workspace_id, bot_id, provider);
create unique index bot_has_one_row_of_settings on shopbot.bots (workspace_id, bot_id, provider);
comment on table shopbot.bots is
    'The bot of a workspace in one messenger: what it says when no rule speaks, and its limits.';

-- The door finds the bot of a webhook, for every module: core.admit.
drop function if exists shopbot.find_bot(text, text);
