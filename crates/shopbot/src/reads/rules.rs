//! Rules, by version.

use platform::{
    DbError,
    reads::{Time, time},
};
use serde::Serialize;
use serde_json::Value;
use sqlx::{FromRow, PgConnection};

#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct RuleRead {
    pub rule_id: String,
    pub version: i32,
    pub enabled: bool,
    pub intent: String,
    #[schema(value_type = Object)]
    pub pattern: Value,
    /// The keywords as they are compared.
    pub keywords: Vec<String>,
    pub priority: i32,
    pub max_turns: i32,
    pub state: Option<String>,
    pub capture: Option<String>,
    pub check_pattern: Option<String>,
    pub response_template: String,
    pub re_ask_template: Option<String>,
    #[schema(value_type = Object)]
    pub buttons: Value,
    pub next_state: Option<String>,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Time,
}

/// Of each rule the version that answers, or the newest when none does; by id, after `after`.
pub async fn rules(tx: &mut PgConnection, after: Option<&str>, limit: i64) -> Result<Vec<RuleRead>, DbError> {
    let query = "select distinct on (r.rule_id) r.* from shopbot.bot_rules r
                  where r.workspace_id = platform.workspace_id() and ($1::text is null or r.rule_id > $1)
                  order by r.rule_id, r.enabled desc, r.version desc limit $2";
    Ok(sqlx::query_as(query).bind(after).bind(limit).fetch_all(tx).await?)
}

/// A rule among those of its intent.
#[derive(Clone, Debug, FromRow)]
pub struct RuleOfIntent {
    #[sqlx(flatten)]
    pub rule: RuleRead,
    /// Its newest version.
    pub newest: i32,
}

/// The same rules by intent and id, after the rule `(intent, rule_id)`.
pub async fn rules_by_intent(
    tx: &mut PgConnection,
    after: Option<(&str, &str)>,
    limit: i64,
) -> Result<Vec<RuleOfIntent>, DbError> {
    let query = "select r.* from (select distinct on (r.rule_id) r.*, max(r.version) over (partition by r.rule_id) as newest
                                    from shopbot.bot_rules r where r.workspace_id = platform.workspace_id()
                                   order by r.rule_id, r.enabled desc, r.version desc) r
                  where $1::text is null or (r.intent, r.rule_id) > ($1, $2::text)
                  order by r.intent, r.rule_id limit $3";
    let (intent, rule_id) = after.unzip();
    Ok(sqlx::query_as(query).bind(intent).bind(rule_id).bind(limit).fetch_all(tx).await?)
}

/// Every version of a rule, newest first, at most 200.
pub async fn rule_versions(tx: &mut PgConnection, rule_id: &str) -> Result<Vec<RuleRead>, DbError> {
    let query = "select r.* from shopbot.bot_rules r where r.workspace_id = platform.workspace_id() and r.rule_id = $1
                  order by r.version desc limit 200";
    Ok(sqlx::query_as(query).bind(rule_id).fetch_all(tx).await?)
}
