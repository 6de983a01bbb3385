//! The SQL of the platform itself: time, workspaces, tokens, journal, jobs, bus, alerts.

use crate::{install::SqlModule, sql_files};

pub const SQL: SqlModule = SqlModule {
    name: "platform",
    schemas: &["platform", "core", "ops", "bus"],
    prelude: sql_files!["prelude": "now" "new_id" "workspace_id" "protect" "refuse_change" "append_only" "refuse_edge"],
    migrations: sql_files!["migrations":
        "0001_roles" "0002_journals" "0003_workspaces" "0004_journal" "0005_jobs" "0006_bus" "0007_token_person" "0008_alerts"
        "0009_endpoint_rates" "0009_bots" "0010_events" "0011_shared_sql" "0012_scope_names" "0013_unended_deliveries"
        "0014_stopped_by"
    ],
    functions: sql_files!["functions":
        "near_names" "id_at" "at_micros" "stamp" "one_line" "redact_text" "snippet" "error_kind" "safe_error" "backoff"
        "upkeep_journals" "grant_access" "append_journal" "record_error"
        "create_workspace" "create_token" "revoke_token" "find_token" "admit" "trim_endpoint_rates"
        "register_job_type" "tell_jobs" "enqueue_jobs" "enqueue_job" "claim_jobs" "claim_workspace_jobs" "expire_leases" "complete_jobs" "fail_jobs"
        "release_jobs" "extend_leases" "retry_job" "next_due_at" "put_schedule" "fire_schedules" "report_process"
        "publish" "bus_position" "bus_mend" "read_all_after" "read_topic_after"
        "alert_targets" "announce_alert" "settle_alerts" "check_alerts" "acknowledge_alert" "bot_errors" "find_trouble" "forget"
        "event_patterns" "is_event_wanted" "event_body" "emit_events" "emit_event"
    ],
};
