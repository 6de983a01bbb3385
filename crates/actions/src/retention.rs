//! What is forgotten on schedule.

use platform::retention::RetentionRule;

pub fn rules() -> Vec<RetentionRule> {
    vec![RetentionRule::sql("actions.chats", "select actions.forget($1)")]
}
