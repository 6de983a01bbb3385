//! What is done on schedule: previews whose time is over are marked, and what is past its time is forgotten.

use platform::retention::RetentionRule;

use crate::{EngineSettings, engine::RESULTS_KEPT_MIN, store};

pub fn rules(settings: EngineSettings) -> Vec<RetentionRule> {
    let kept = settings.results_kept.max(RESULTS_KEPT_MIN);
    vec![
        RetentionRule::sql("planner.previews", "select planner.expire_previews(null, $1)"),
        RetentionRule::batches("planner.batches", move |db, limit| async move { store::forget(db.pool(), limit, kept).await }),
    ]
}
