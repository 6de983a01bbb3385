//! `GET /api/bots/rules`, `POST /api/bots/rules`, `GET /api/bots/rules/{rule_id}` and `POST /api/bots/rules/{rule_id}/enable`.

use axum::http::StatusCode;
use kernel::Problem;
use platform::{
    DbError,
    http::{Answer, Ctx, Failure, Json, Page, Path, Query},
    wake::Topic,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    reads::{self, RuleRead},
    scopes, store,
};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct ListRules {
    /// Only rules after this one: `next` of the page before.
    after: Option<String>,
    /// How many at most, 1 to 200.
    #[serde(default = "Page::default_limit")]
    limit: i64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct RuleList {
    pub rules: Vec<RuleRead>,
    /// Give it as `after` to get the next page; absent on the last one.
    pub next: Option<String>,
}

/// Rules by id: of each the version that answers, or the newest when none does.
#[utoipa::path(get, path = "/api/bots/rules", params(ListRules), responses((status = 200, body = kernel::Envelope<RuleList>), (status = 401)), security(("token" = [])))]
pub(super) async fn list_rules(ctx: Ctx, Query(query): Query<ListRules>) -> Result<Answer<RuleList>, Failure> {
    ctx.require(scopes::READ)?;
    let limit = Page::checked(query.limit)?;
    let rules = reads::rules(&mut *ctx.begin().await?, query.after.as_deref(), limit).await?;
    let is_full = i64::try_from(rules.len()) == Ok(limit);
    let next = is_full.then(|| rules.last().map(|row| row.rule_id.clone())).flatten();
    Ok(Answer::ok(RuleList { rules, next }))
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct RuleVersions {
    /// Every version, newest first.
    pub versions: Vec<RuleRead>,
}

/// One rule with its versions.
#[utoipa::path(get, path = "/api/bots/rules/{rule_id}", params(("rule_id" = String, Path)), responses((status = 200, body = kernel::Envelope<RuleVersions>), (status = 404)), security(("token" = [])))]
pub(super) async fn get_rule(ctx: Ctx, Path(rule_id): Path<String>) -> Result<Answer<RuleVersions>, Failure> {
    ctx.require(scopes::READ)?;
    let versions = reads::rule_versions(&mut *ctx.begin().await?, &rule_id).await?;
    if versions.is_empty() {
        return Err(Problem::not_found("rule").into());
    }
    Ok(Answer::ok(RuleVersions { versions }))
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Saved {
    /// `[{rule_id, version}]`.
    #[schema(value_type = Object)]
    pub rules: Value,
}

/// Save a rule, or a list of rules that are judged together, as new versions and enable them. Each is
/// `{rule_id, intent, pattern, response_template, priority?, max_turns?, state?, capture?, check_pattern?, re_ask_template?, buttons?, next_state?}`.
#[utoipa::path(post, path = "/api/bots/rules", request_body = Object,
    responses((status = 201, body = kernel::Envelope<Saved>), (status = 401), (status = 422)), security(("token" = [])))]
pub(super) async fn save_rules(ctx: Ctx, Json(body): Json<Value>) -> Result<Answer<Saved>, Failure> {
    ctx.require(scopes::WRITE)?;
    let given = if body.is_array() { body } else { json!([body]) };
    let mut tx = ctx.begin().await?;
    let rules = store::save_rules(&mut tx, ctx.principal.workspace_id, &given, &ctx.principal.token_name).await?;
    tx.commit().await.map_err(DbError::from)?;
    ctx.app.db.wake().tell(Topic::BUS);
    Ok(Answer(StatusCode::CREATED, Saved { rules }))
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EnableRule {
    /// The version that is to answer; null: none.
    version: Option<i32>,
}

/// Make another version of a rule the one that answers, or none. Conversations under way finish on theirs.
#[utoipa::path(post, path = "/api/bots/rules/{rule_id}/enable", params(("rule_id" = String, Path)), request_body = EnableRule,
    responses((status = 200, body = kernel::Envelope<RuleVersions>), (status = 404), (status = 422)), security(("token" = [])))]
pub(super) async fn enable_rule(
    ctx: Ctx,
    Path(rule_id): Path<String>,
    Json(body): Json<EnableRule>,
) -> Result<Answer<RuleVersions>, Failure> {
    ctx.require(scopes::WRITE)?;
    let (workspace, by) = (ctx.principal.workspace_id, &ctx.principal.token_name);
    let mut tx = ctx.begin().await?;
    store::enable_rule(&mut tx, workspace, &rule_id, body.version, by).await.map_err(|error| match error {
        error if error.is_refusal("ZD003") => Problem::not_found("rule").into(),
        error => Failure::from(error),
    })?;
    let versions = reads::rule_versions(&mut tx, &rule_id).await?;
    tx.commit().await.map_err(DbError::from)?;
    Ok(Answer::ok(RuleVersions { versions }))
}
