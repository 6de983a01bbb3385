//! The SQL of the planner.

use platform::{install::SqlModule, sql_files};

pub const SQL: SqlModule = SqlModule {
    name: "planner",
    schemas: &["planner"],
    prelude: sql_files!["prelude": "is_text" "is_line" "is_days" "due_days"],
    migrations: sql_files!["migrations": "0001_people" "0002_batches" "0003_goals" "0004_log" "0005_no_topic" "0006_events"],
    functions: sql_files!["functions":
        "award_of" "day_names" "day_numbers" "today" "find_person" "take_turn" "set_time_zone"
        "show_goal" "show_step" "show_habit" "show_mark" "outcome" "add_change" "give_xp" "take_back_xp" "total_xp"
        "find_goal" "find_step" "find_habit" "read_order" "arrange_steps"
        "create_goal" "update_goal" "complete_goal" "reopen_goal" "delete_goal"
        "create_step" "update_step" "complete_step" "reopen_step" "delete_step" "reorder_step"
        "create_habit" "update_habit" "mark_habit" "unmark_habit" "archive_habit"
        "award_to_keep" "revert_goal" "revert_step" "revert_habit" "revert_mark" "revert_order" "revert_change"
        "undo_action" "run_action" "later_changes" "plan_undo" "look_at" "changed_since"
        "begin_preview" "save_preview" "begin_apply" "read_plan" "finish_apply" "expire_previews" "forget"
        "log_request" "log_response"
        "streak" "show_habit_today" "show_batch" "list_goals" "read_goal" "list_steps" "read_step" "list_habits"
        "read_habit" "read_history" "read_xp"
    ],
};
