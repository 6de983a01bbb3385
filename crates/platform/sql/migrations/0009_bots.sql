-- Which modules there are is not for the platform to know: a name is enough, and the webhooks ask the running program.
create table core.bots (
    workspace_id uuid not null references core.workspaces,
    bot_id       uuid not null default platform.new_id(),
    provider     text not null constraint bot_provider_plain check (provider ~ '^[a-z][a-z0-9_]{0,39}$'),
    name         text not null constraint bot_name_short check (char_length(name) between 1 and 100),
    secret_ref   text not null constraint bot_token_is_a_reference
                 check (secret_ref ~ '^(env|file):.+' and char_length(secret_ref) <= 1000),
    serves       text not null constraint bot_module_plain check (serves ~ '^[a-z][a-z0-9_]{0,39}$'),
    transport    text not null default 'webhook'
                 constraint bot_transport_known check (transport in ('webhook', 'polling')),
    enabled      boolean not null default true,
    created_at   timestamptz not null default platform.now(),
    primary key (workspace_id, bot_id),
    constraint bot_name_once unique (workspace_id, name),
    -- What a module keeps of a bot by its messenger refers to this, so that the two cannot disagree.
    constraint bot_has_one_provider unique (workspace_id, bot_id, provider)
);
comment on table core.bots is
    'The bots of all modules: where the token of each is and which module it serves. Its settings are the module''s.';
comment on column core.bots.secret_ref is 'Where the token is: env:NAME or file:PATH.';
comment on column core.bots.serves is 'The module that gets its updates.';
comment on column core.bots.transport is 'Whether the provider brings updates or is asked for them.';
comment on column core.bots.enabled is 'A bot that is switched off neither takes updates nor answers.';

alter table core.workspace_endpoints add bot_id uuid,
    add constraint endpoint_with_a_bot_is_its_webhook check (bot_id is null or kind = 'bot_webhook'),
    add foreign key (workspace_id, bot_id) references core.bots;
comment on column core.workspace_endpoints.bot_id is 'Whose webhook it is.';

select platform.protect('core.bots');
create index endpoints_by_bot on core.workspace_endpoints (workspace_id, bot_id);
