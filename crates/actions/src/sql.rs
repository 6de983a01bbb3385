//! The SQL of actions.

use platform::{install::SqlModule, sql_files};

pub const SQL: SqlModule = SqlModule {
    name: "actions",
    schemas: &["actions"],
    prelude: sql_files!["prelude": "is_id"],
    migrations: sql_files!["migrations": "0001_chats" "0002_actions" "0003_processing_max" "0004_timed_out" "0005_events"],
    functions: sql_files!["functions":
        "topic" "plain_text" "bot_action" "chat_message" "check_object" "check_chat_id" "check_ids" "open_chat" "tell_action"
        "find_action" "change_action" "end_action" "start_action" "update_action" "expire_overdue" "read_actions"
        "add_message" "read_messages" "forget"
    ],
};
