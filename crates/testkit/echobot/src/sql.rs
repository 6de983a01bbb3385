//! The SQL of the echo bot.

use platform::{install::SqlModule, sql_files};

pub const SQL: SqlModule = SqlModule {
    name: "echobot",
    schemas: &["echobot"],
    prelude: &[],
    migrations: sql_files!["migrations": "0001_echoes"],
    functions: sql_files!["functions":
        "take_message" "due_workspaces" "claim_echoes" "next_due_at" "still_held" "expire_leases" "record_result"
        "count_words" "find_trouble" "forget"
    ],
};
