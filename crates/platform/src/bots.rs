//! The bots of all modules: whether the token of each can be read from here.

use uuid::Uuid;

use crate::{Db, DbError, module::Finding, secrets::Secrets};

/// A check of `beresta doctor`.
pub(crate) async fn check_tokens(db: Db) -> Result<Vec<Finding>, DbError> {
    let query = "select workspace_id, name, serves, secret_ref from core.bots where enabled order by workspace_id, name";
    let bots: Vec<(Uuid, String, String, String)> = sqlx::query_as(query).fetch_all(db.pool()).await?;
    let secrets = Secrets::default();
    let mut findings = Vec::new();
    for (workspace, name, module, reference) in &bots {
        if let Err(problem) = secrets.find(reference).await {
            let words = format!("the token of the bot `{name}` of {module} in workspace {workspace}: {problem}");
            findings.push(Finding::Warning(words));
        }
    }
    if findings.is_empty() {
        findings.push(Finding::Ok(format!("the tokens of {} bots can be read", bots.len())));
    }
    Ok(findings)
}
