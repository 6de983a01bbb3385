//! The SQL of knowledge. Functions are in schema `knowledge`; the tables have the schemas of the specification.

use platform::{install::SqlModule, sql_files};

pub const SQL: SqlModule = SqlModule {
    name: "knowledge",
    schemas: &["knowledge", "raw", "tg", "content", "kg", "audit"],
    prelude: sql_files!["prelude": "lookup_terms"],
    migrations: sql_files!["migrations":
        "0001_people" "0002_telegram" "0003_content" "0004_vectors" "0005_search" "0006_ingest" "0007_people"
    ],
    functions: sql_files!["functions":
        "policy_of" "chat_now" "chats_of" "take_update" "audience_of" "given_audience" "is_forgotten" "is_url_forgotten" "without_quotes" "quotes_forgotten"
        "without_names" "people_forgotten" "kept_of_update"
        "hold_message" "await_turn_at_message" "store_members" "store_topic" "migrate_chat"
        "drop_unreferenced_blobs" "drop_unreferenced" "author_of" "store_attachments" "ask_for_chunks" "take_url"
        "ask_for_shared" "index_message" "store_message" "obey" "store_facts" "end_update" "load_context"
        "put_blob" "told_document" "put_document" "begin_fetch" "store_fetch" "share_page" "begin_download"
        "store_download" "store_text" "document_context" "store_chunks" "put_model" "chunks_to_embed"
        "store_embeddings" "switch_model" "ask_for_vectors" "raw_of_messages" "rename_author" "forget_messages" "forget_names" "forget_raw" "forget" "forget_url" "prune" "forget_old"
        "register_chat" "set_policy" "retry_document" "fail_job" "find_trouble"
        "put_reply" "due_workspaces" "claim_replies" "next_due_at" "still_held" "expire_leases" "record_reply"
        "judge_import" "store_imported" "disable_chat" "allow_person" "count_forgetting"
        "note_terms" "follow_chat" "count_terms" "look_up_terms" "find_words" "find_vectors" "audience_chats" "read_hits" "read_neighbours"
        "is_addressed" "is_question" "refuse_stranger" "upsert_session" "open_turn" "take_question" "read_turn" "end_turn" "may_tell"
        "forget_answers" "forget_sessions" "record_press" "prove_membership" "tie_person" "ask_privately" "give_up_turn"
        "sources_of" "obey_more"
        "reply_attempts_max" "bot_errors" "note_transport" "forget_transport" "polling_bots" "begin_poll" "end_poll"
    ],
};
