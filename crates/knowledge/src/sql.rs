//! The SQL of knowledge. Functions are in schema `knowledge`; the tables have the schemas of the specification.

use platform::{install::SqlModule, sql_files};

pub const SQL: SqlModule = SqlModule {
    name: "knowledge",
    schemas: &["knowledge", "raw", "tg", "content", "kg", "audit"],
    prelude: &[],
    migrations: sql_files!["migrations": "0001_people" "0002_telegram" "0003_content"],
    functions: sql_files!["functions":
        "policy_of" "take_update" "audience_of" "is_forgotten" "store_members" "migrate_chat" "drop_unreferenced_blobs"
        "drop_unreferenced" "author_of" "store_attachments" "index_message" "store_message" "store_facts"
        "end_update" "load_context"
        "document_context" "store_chunks" "forget_messages" "forget"
        "prune" "forget_old" "register_chat" "fail_job" "find_trouble"
    ],
};
