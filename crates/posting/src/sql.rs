//! The SQL of posting.

use platform::{install::SqlModule, sql_files};

pub const SQL: SqlModule = SqlModule {
    name: "posting",
    schemas: &["posting"],
    prelude: sql_files!["prelude":
        "canonical_tags"
        "is_posting_window"
        "is_route_filter" "drop_head"
        "is_time_zone"
        "is_buttons"
        "is_channel_settings"
    ],
    migrations: sql_files!["migrations":
        "0001_channels" "0002_messages" "0003_deliveries" "0004_events" "0005_ingest" "0007_alerts" "0008_door" "0009_events"
        "0010_sending_lease" "0011_one_check"
    ],
    functions: sql_files!["functions":
        "canonical_url"
        "hashtags"
        "html_character"
        "next_open_at"
        "normalize_text"
        "read_html"
        "read_markdown"
        "tag_attributes"
        "tag_error"
        "utf16_length"
        "provider_limits"
        "policy" "count_deliveries" "count_inserted"
        "normalize_payload" "content_hash" "message_tags" "scheduled_for" "is_routed" "media_problem" "plan_telegram" "plan_max" "render"
        "note_refusal" "request_hash" "find_receipt" "take_receipt" "tell_duplicate" "look_at_post" "fan_out" "enqueue_messages_and_deliveries" "take_pull_items"
        "lock_gates" "can_follow" "find_heads" "claim_deliveries" "start_sending" "still_held" "record_progress"
        "tell_posts_sent" "tell_failed" "tell_paused"
        "walk_to_sent" "mark_sent_late" "mark_sent_many" "mark_sent"
        "retry_at" "claims_of" "release_claims" "close_key" "penalize" "hold_delivery" "finish_attempt" "end_delivery" "schedule_retry" "fail_permanent"
        "expire_leases" "settle" "waiting_for" "due_workspaces" "next_due_at" "repair_target" "beat" "give_back" "rebuild_counters"
        "find_media" "put_media_blob" "put_media_origin"
        "manual_note" "hold_channel" "hold_group" "requeue" "requeue_dead" "requeue_failed" "pause_channel" "enable_channel"
        "disable_group" "enable_group" "rotate_auth" "release_stale"
        "withdraw" "follow_post"
        "see_media_origin" "doom_media" "forget_media" "forget" "find_orphan_events" "expired_raw"
        "find_trouble" "alert_targets"
    ],
};
