//! What is forgotten on schedule.

use platform::retention::RetentionRule;

pub fn rules() -> Vec<RetentionRule> {
    vec![RetentionRule::sql("shopbot.messages", "select shopbot.forget($1)")]
}
