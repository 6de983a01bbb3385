//! The SQL of webhooks. Their tables and `ops.emit_events` are the platform's, because modules emit events and depend on no module.

use platform::{install::SqlModule, sql_files};

pub const SQL: SqlModule = SqlModule {
    name: "webhooks",
    schemas: &["webhooks"],
    prelude: &[],
    migrations: &[],
    functions: sql_files!["functions":
        "find_subscription" "check_events" "add_subscription" "end_open" "stop_subscription" "pause_subscription"
        "enable_subscription" "remove_subscription" "rotate_secret" "add_delivery" "send_test" "resend_delivery"
        "due_workspaces" "claim_deliveries" "next_due_at" "still_held" "retry_wait" "log_attempt" "expire_leases"
        "judge_subscription" "record_result" "record_results" "forget" "find_trouble"
    ],
};
