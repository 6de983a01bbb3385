-- A workspace may have several bots in one messenger: settings, conversations and answers belong to a bot and not to
-- its messenger. A customer who writes to two bots has the same chat id at both, and numbers of messages repeat.
-- The owner of the tables sees no workspace's rows while row security is forced on it.
alter table shopbot.bots no force row level security;
alter table shopbot.bot_state no force row level security;
alter table shopbot.bot_inbox no force row level security;
alter table shopbot.bot_outbox no force row level security;

alter table shopbot.bot_state add bot_id uuid;
alter table shopbot.bot_inbox add bot_id uuid;
alter table shopbot.bot_outbox add bot_id uuid;
-- There was one bot in each messenger. What is left of one that was removed belongs to nobody.
update shopbot.bot_state s
   set bot_id = coalesce((select b.bot_id from shopbot.bots b
                           where b.workspace_id = s.workspace_id and b.provider = s.provider),
                         '00000000-0000-0000-0000-000000000000');
update shopbot.bot_inbox i
   set bot_id = coalesce((select b.bot_id from shopbot.bots b
                           where b.workspace_id = i.workspace_id and b.provider = i.provider),
                         '00000000-0000-0000-0000-000000000000');
update shopbot.bot_outbox o
   set bot_id = coalesce((select b.bot_id from shopbot.bots b
                           where b.workspace_id = o.workspace_id and b.provider = o.provider),
                         '00000000-0000-0000-0000-000000000000');

alter table shopbot.bots force row level security;
alter table shopbot.bot_state force row level security;
alter table shopbot.bot_inbox force row level security;
alter table shopbot.bot_outbox force row level security;

alter table shopbot.bots drop constraint bots_pkey, add primary key (workspace_id, bot_id);
comment on table shopbot.bots is 'The bots of a workspace: what each says when no rule speaks, and its limits.';
alter table shopbot.bot_state alter bot_id set not null, drop constraint bot_state_pkey,
    add primary key (workspace_id, bot_id, chat_id);
alter table shopbot.bot_inbox alter bot_id set not null, drop constraint bot_inbox_pkey,
    add primary key (workspace_id, bot_id, chat_id, provider_message_id);
alter table shopbot.bot_outbox alter bot_id set not null, drop constraint one_answer_to_each_message,
    add constraint one_answer_to_each_message unique (workspace_id, bot_id, chat_id, inbound_provider_message_id);
drop index shopbot.answers_open;
drop index shopbot.answers_failed;
create index answers_open on shopbot.bot_outbox (workspace_id, bot_id, chat_id, seq) where phase = 'open';
create index answers_failed on shopbot.bot_outbox (workspace_id, bot_id, failed_at) where phase in ('failed', 'dead');

-- A journal is not rewritten: a line without a bot is of the first one in its messenger (shopbot.first_bot).
alter table shopbot.bot_logs add bot_id uuid;
alter table shopbot.bot_poison add bot_id uuid;

-- Their successors have one parameter more, with a default, or ask for the bot: both together could not be told apart.
drop function if exists shopbot.handle_message(uuid, text, jsonb, text, timestamptz);
drop function if exists shopbot.take_message(uuid, text, jsonb, text);
drop function if exists shopbot.try_message(uuid, text, jsonb, jsonb, timestamptz);
drop function if exists shopbot.keep_poison(uuid, text, uuid, text, text, text);
drop function if exists shopbot.close_bot(uuid, text, timestamptz, text);
drop function if exists shopbot.error_rate(uuid, text);
