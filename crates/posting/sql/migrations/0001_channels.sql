create table posting.policies (
    workspace_id                     uuid primary key references core.workspaces,
    attempts_max                     int not null default 5 constraint policy_attempts_bounded check (attempts_max between 1 and 100),
    backoff_base_seconds             int not null default 2 constraint policy_backoff_positive check (backoff_base_seconds > 0),
    backoff_max_seconds              int not null default 600 constraint policy_backoff_bounded check (backoff_max_seconds between 1 and 86400),
    pause_on_permanent_seconds       int not null default 3600 constraint policy_pause_positive check (pause_on_permanent_seconds > 0),
    disable_after_permanent_streak   int not null default 3 constraint policy_streak_positive check (disable_after_permanent_streak > 0),
    sending_lease_seconds            int not null default 300 constraint policy_sending_lease_bounded check (sending_lease_seconds between 1 and 86400),
    claimed_lease_seconds            int not null default 300 constraint policy_claimed_lease_bounded check (claimed_lease_seconds between 1 and 86400),
    claims_per_channel_max           int not null default 25 constraint policy_claims_positive check (claims_per_channel_max > 0),
    alert_failed_max                 int not null default 5 constraint policy_failed_max_not_negative check (alert_failed_max >= 0),
    alert_paused_max                 int not null default 0 constraint policy_paused_max_not_negative check (alert_paused_max >= 0),
    alert_again_seconds              int not null default 3600 constraint policy_alert_again_positive check (alert_again_seconds > 0),
    alert_telegram_chat_id           text,
    alert_telegram_auth_ref          text,
    alert_email                      text,
    deliveries_keep_days             int not null default 90 constraint policy_deliveries_kept check (deliveries_keep_days >= 1),
    receipts_keep_hours              int not null default 72 constraint policy_receipts_kept check (receipts_keep_hours between 24 and 72),
    raw_keep_days                    int not null default 14 constraint policy_raw_kept check (raw_keep_days >= 1),
    origin_retention_days            int not null default 30 constraint policy_origin_kept check (origin_retention_days >= 1),
    origin_retention_large_video_days int not null default 7 constraint policy_large_video_kept check (origin_retention_large_video_days >= 1),
    large_video_bytes_threshold      bigint not null default 52428800,
    max_upload_policy                jsonb not null default '{"image": "upload_required", "video": "upload_required", "audio": "upload_required", "file": "upload_required"}'
        constraint policy_upload_known check (not jsonb_path_exists(max_upload_policy, '$.* ? (@ != "upload_required" && @ != "url_allowed")')),
    updated_at                       timestamptz not null default platform.now()
);
comment on table posting.policies is 'How hard a workspace tries, when it gives up, whom it tells and what it forgets. No row means the defaults.';

create table posting.credential_bindings (
    workspace_id uuid not null references core.workspaces,
    auth_ref     text not null constraint credential_name_short check (char_length(auth_ref) between 1 and 100),
    platform     text not null constraint credential_platform_known check (platform in ('telegram', 'max')),
    secret_ref   text not null
                 constraint credential_is_a_reference check (secret_ref ~ '^(env|file):.+' and char_length(secret_ref) <= 1000),
    rotated_at   timestamptz,
    updated_at   timestamptz not null default platform.now(),
    primary key (workspace_id, auth_ref, platform)
);
comment on table posting.credential_bindings is 'Where the secret behind an auth_ref is kept: env:NAME or file:PATH, never the secret itself.';

create table posting.channels (
    workspace_id    uuid not null references core.workspaces,
    channel_id      text not null constraint channel_id_short check (char_length(channel_id) between 1 and 100),
    platform        text not null constraint channel_platform_known check (platform in ('telegram', 'max')),
    target_id       text not null
                    constraint channel_target_is_a_chat check (
                        target_id ~ '^-?[0-9]{1,19}$' or (platform = 'telegram' and target_id ~ '^@[A-Za-z][A-Za-z0-9_]{3,31}$')),
    auth_ref        text not null constraint channel_auth_ref_short check (char_length(auth_ref) between 1 and 100),
    rate_group      text not null constraint channel_rate_group_short check (char_length(rate_group) between 1 and 100),
    enabled         boolean not null default true,
    title           text constraint channel_title_short check (char_length(title) <= 200),
    send_mode       text not null default 'mixed' constraint channel_send_mode_known check (send_mode in ('text', 'media', 'mixed')),
    rate_rps        numeric default 1 constraint channel_rate_bounded check (rate_rps between 0 and 10000),
    max_parallel    int not null default 1 constraint channel_parallel_bounded check (max_parallel between 1 and 1000),
    next_allowed_at timestamptz,
    paused_until    timestamptz,
    timezone        text constraint channel_time_zone_known check (timezone is null or posting.is_time_zone(timezone)),
    window_mode     text not null default 'immediate' constraint channel_window_mode_known check (window_mode in ('immediate', 'windowed')),
    posting_window  jsonb constraint channel_window_readable check (posting_window is null or posting.is_posting_window(posting_window)),
    dedup_ttl_hours int default 168 constraint channel_dedup_bounded check (dedup_ttl_hours between 0 and 8760),
    error_streak    int not null default 0 constraint channel_streak_not_negative check (error_streak >= 0),
    settings        jsonb not null default '{}' constraint channel_settings_known check (posting.is_channel_settings(settings)),
    tags            text[] not null default '{}' constraint channel_tags_canonical check (tags = posting.canonical_tags(tags)),
    route_filter    jsonb constraint channel_route_filter_readable check (route_filter is null or posting.is_route_filter(route_filter)),
    created_at      timestamptz not null default platform.now(),
    updated_at      timestamptz not null default platform.now(),
    primary key (workspace_id, channel_id),
    constraint channel_target_once unique (workspace_id, platform, target_id),
    constraint channel_windowed_has_a_window check (window_mode = 'immediate' or posting_window is not null)
) with (fillfactor = 50, autovacuum_analyze_threshold = 1);
comment on table posting.channels is 'Where posts go. Adding a row is enough; the next post goes there too.';
create index channels_enabled on posting.channels (workspace_id, enabled);
create index channels_by_tag on posting.channels using gin (tags);

create table posting.channel_auth (
    workspace_id uuid not null,
    channel_id   text not null,
    auth_ref     text not null,
    rotated_at   timestamptz,
    updated_at   timestamptz not null default platform.now(),
    primary key (workspace_id, channel_id),
    foreign key (workspace_id, channel_id) references posting.channels on delete cascade
);
comment on table posting.channel_auth is 'The credential a channel uses since its last rotation; wins over channels.auth_ref.';

create table posting.platform_limits (
    workspace_id    uuid not null references core.workspaces,
    platform        text not null constraint limit_platform_known check (platform in ('telegram', 'max')),
    rate_group      text not null,
    rate_rps        numeric constraint limit_rate_bounded check (rate_rps between 0 and 100000),
    next_allowed_at timestamptz,
    updated_at      timestamptz not null default platform.now(),
    primary key (workspace_id, platform, rate_group)
) with (fillfactor = 50);
comment on table posting.platform_limits is 'The ceiling that all channels of one credential share, and until when the provider has closed it.';

-- Kept by triggers on posting.deliveries, so that the gates never count a backlog. One update per channel and statement.
create table posting.channel_counters (
    workspace_id uuid not null,
    channel_id   text not null,
    claimed      int not null default 0,
    sending      int not null default 0,
    primary key (workspace_id, channel_id)
) with (fillfactor = 20);
comment on table posting.channel_counters is 'How many deliveries of a channel are claimed and how many are being sent right now.';

select platform.protect('posting.policies'), platform.protect('posting.credential_bindings'), platform.protect('posting.channels'),
       platform.protect('posting.channel_auth'), platform.protect('posting.platform_limits'), platform.protect('posting.channel_counters');
-- See posting.rebuild_counters.
grant truncate on posting.channel_counters to beresta_system;
