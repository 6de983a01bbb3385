//! The SQL of shopbot.

use platform::{install::SqlModule, sql_files};

pub const SQL: SqlModule = SqlModule {
    name: "shopbot",
    schemas: &["shopbot"],
    prelude: sql_files!["prelude":
        "clean_text" "fold_text" "fold_keywords" "is_pattern" "is_quick_replies" "is_variables" "is_check_pattern" "check_changed_rules"
    ],
    migrations: sql_files!["migrations":
        "0001_bots" "0002_rules" "0003_conversations" "0004_logs" "0006_alerts" "0007_registry" "0008_outbox"
        "0009_events" "0010_by_bot" "0011_one_workspace"
    ],
    functions: sql_files!["functions":
        "first_bot" "bot_subject" "template_names" "render_template" "known_variables" "check_rules"
        "read_rule" "lock_rules" "save_rules" "enable_rule"
        "match_rule" "decide" "tell_decision" "handle_message" "take_message" "try_message" "keep_poison"
        "due_workspaces" "claim_answers" "still_held" "mark_sent_late" "mark_answers_sent" "close_bot" "end_attempt" "retry_answer"
        "fail_answer"
        "expire_answer_leases" "next_answer_at" "error_rate" "find_trouble" "bot_errors" "alert_targets" "forget"
    ],
};
