create table core.workspaces (
    workspace_id uuid primary key,
    name         text not null constraint workspace_name_unique unique
                 constraint workspace_name_short check (char_length(name) between 1 and 100),
    status       text not null default 'active'
                 constraint workspace_status_known check (status in ('active', 'paused', 'disabled')),
    created_at   timestamptz not null default platform.now()
);
comment on table core.workspaces is 'The tenants. Everything else that a team owns carries its workspace_id.';

-- Owns recurring upkeep that belongs to no team.
insert into core.workspaces (workspace_id, name) values ('00000000-0000-0000-0000-000000000000', 'system');

create table core.workspace_endpoints (
    workspace_id         uuid not null references core.workspaces,
    endpoint_id          uuid not null default gen_random_uuid(),
    kind                 text not null constraint endpoint_kind_known check (kind in ('webhook_push', 'bot_webhook')),
    secret_hash          text not null
                         constraint endpoint_secret_is_a_sha256 check (secret_hash ~ '^[0-9a-f]{64}$'),
    enabled              boolean not null default true,
    ingress_rps          numeric not null default 5 constraint endpoint_rate_positive check (ingress_rps > 0),
    max_payload_bytes    int not null default 262144
                         constraint endpoint_payload_bounded check (max_payload_bytes between 1 and 16777216),
    hash_drop_window_sec int not null default 10
                         constraint endpoint_window_bounded check (hash_drop_window_sec between 0 and 86400),
    meta                 jsonb not null default '{}',
    created_at           timestamptz not null default platform.now(),
    updated_at           timestamptz not null default platform.now(),
    primary key (workspace_id, endpoint_id)
);
comment on table core.workspace_endpoints is 'Which inbound secret belongs to which workspace. Rotation: add a row, then disable the old one.';
create unique index endpoint_secret_is_active_once on core.workspace_endpoints (kind, secret_hash) where enabled;

create table core.api_tokens (
    workspace_id uuid not null references core.workspaces,
    token_id     uuid not null default gen_random_uuid(),
    name         text not null constraint token_name_short check (char_length(name) between 1 and 100),
    token_hash   text not null constraint token_is_a_sha256 check (token_hash ~ '^[0-9a-f]{64}$'),
    scopes       text[] not null,
    created_at   timestamptz not null default platform.now(),
    expires_at   timestamptz,
    revoked_at   timestamptz,
    primary key (workspace_id, token_id)
);
comment on table core.api_tokens is 'API tokens; only the SHA-256 of a token is stored.';
create index api_tokens_by_hash on core.api_tokens (token_hash);

select platform.protect('core.workspaces'), platform.protect('core.workspace_endpoints'), platform.protect('core.api_tokens');
