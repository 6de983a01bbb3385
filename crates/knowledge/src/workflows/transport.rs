//! WF11: looks how the updates of a bot come, writes it down, and mends it.

use kernel::{AdapterError, Category, Kind, Problem, Secret};
use messengers::{Telegram, WebhookInfo, WebhookTarget};
use platform::DbError;
use serde_json::{Value, json};
use sqlx::FromRow;
use uuid::Uuid;

use super::Request;
use crate::{
    Knowledge,
    model::transport::{Before, Plan, Seen, TransportAction, TransportMode, Wanted, decide},
};

#[derive(Debug, FromRow)]
struct WatchedBot {
    secret_ref: String,
    is_polling: bool,
    wanted_mode: String,
    webhook_url: Option<String>,
    webhook_secret_ref: Option<String>,
    pending_max: i32,
    username: Option<String>,
    seconds_in_mode: f64,
    pending: Option<i32>,
    failures: i32,
    seconds_since_check: Option<f64>,
    now_seconds: f64,
}

pub(super) async fn run(knowledge: &Knowledge, request: Request) -> Result<Value, Problem> {
    let bot_id = request.text("bot_id")?.parse::<Uuid>();
    let bot_id = bot_id.map_err(|_| Problem::validation("bot_id", "`bot_id` is a UUID"))?;
    let bot = load(knowledge, &request, bot_id).await?.ok_or_else(|| Problem::not_found("Telegram bot"))?;
    let looked = look(knowledge, &bot).await;
    let (seen, state, events) = match looked {
        Ok((info, username)) => act(knowledge, &bot, &info, username).await,
        // Nothing is changed while Telegram does not answer.
        Err(error) => {
            let words = format!("Telegram could not be asked: {}", error.message);
            let seen = json!({ "verdict": "unreachable", "last_error": words });
            let mode = if bot.is_polling { "polling" } else { "webhook" };
            (seen, json!({ "mode": mode, "failures": bot.failures + 1, "last_error": words }), json!([]))
        }
    };
    let query = sqlx::query_scalar("select knowledge.note_transport($1, $2, $3, $4, $5)")
        .bind(request.workspace.uuid())
        .bind(bot_id)
        .bind(&seen)
        .bind(&state)
        .bind(&events);
    let noted: Value = query.fetch_one(knowledge.db.pool()).await.map_err(DbError::from)?;
    knowledge.db.wake().tell(crate::polling::TRANSPORT);
    Ok(noted)
}

async fn load(knowledge: &Knowledge, request: &Request, bot_id: Uuid) -> Result<Option<WatchedBot>, Problem> {
    let query = "select b.secret_ref, coalesce(s.mode, b.transport) = 'polling' as is_polling,
                        coalesce(c.mode, b.transport) as wanted_mode, c.webhook_url, c.webhook_secret_ref,
                        coalesce(c.pending_max, 100) as pending_max, s.username, s.pending, coalesce(s.failures, 0) as failures,
                        coalesce(extract(epoch from platform.now() - s.since), 0)::float8 as seconds_in_mode,
                        extract(epoch from platform.now() - s.checked_at)::float8 as seconds_since_check,
                        extract(epoch from platform.now())::float8 as now_seconds
                   from core.bots b
                   left join core.bot_transport_config c on (c.workspace_id, c.bot_id) = (b.workspace_id, b.bot_id)
                   left join core.bot_transport_state s on (s.workspace_id, s.bot_id) = (b.workspace_id, b.bot_id)
                  where (b.workspace_id, b.bot_id, b.provider) = ($1, $2, 'telegram') and b.enabled";
    let query = sqlx::query_as(query).bind(request.workspace.uuid()).bind(bot_id);
    Ok(query.fetch_optional(knowledge.db.pool()).await.map_err(DbError::from)?)
}

async fn look(knowledge: &Knowledge, bot: &WatchedBot) -> Result<(WebhookInfo, Option<String>), AdapterError> {
    let (telegram, token) = bot_access(knowledge, &bot.secret_ref).await?;
    let info = telegram.get_webhook_info(&token).await?;
    let username = match &bot.username {
        Some(known) => Some(known.clone()),
        None => telegram.get_username(&token).await?,
    };
    Ok((info, username))
}

/// Telegram and the token of a bot.
pub(crate) async fn bot_access<'a>(knowledge: &'a Knowledge, secret_ref: &str) -> Result<(&'a Telegram, Secret), AdapterError> {
    // An operator will mend it, and what waits for it is worth the wait.
    let missing = |message: String| AdapterError::credential_missing(Category::Transient, message);
    let token = knowledge.secrets.find(secret_ref).await.map_err(missing)?;
    let telegram = knowledge.messengers.telegram().ok_or_else(|| missing("Telegram is not configured".to_owned()))?;
    Ok((telegram, token))
}

#[expect(clippy::cast_possible_truncation, reason = "seconds since 1970 and ages of checks are far within 64 bits")]
async fn act(knowledge: &Knowledge, bot: &WatchedBot, info: &WebhookInfo, username: Option<String>) -> (Value, Value, Value) {
    let wanted = Wanted { mode: &bot.wanted_mode, url: bot.webhook_url.as_deref(), pending_max: bot.pending_max.into() };
    let before = Before {
        mode: if bot.is_polling { TransportMode::Polling } else { TransportMode::Webhook },
        seconds_in_mode: bot.seconds_in_mode as i64,
        pending: bot.pending.unwrap_or_default().into(),
        failures: bot.failures,
        seconds_since_check: bot.seconds_since_check.map(|seconds| seconds as i64),
    };
    let seconds_since_error = info.last_error_at.map(|at| (bot.now_seconds as i64).saturating_sub(at));
    let plan = decide(&wanted, &before, &Seen { url: &info.url, pending: info.pending, seconds_since_error });
    let mut events: Vec<Value> = Vec::new();
    let mut state = json!({
        "mode": plan.mode.as_str(), "username": username, "failures": plan.failures,
        "last_error": (plan.failures > 0).then(|| info.last_error.clone().unwrap_or_else(|| plan.verdict.to_owned())),
    });
    match carry_out(knowledge, bot, &plan).await {
        Ok(()) => {
            if let Some(event) = plan.event {
                events.push(json!({ "event": event, "details": { "verdict": plan.verdict, "pending": info.pending } }));
            }
        }
        Err(problem) => {
            // How updates come has not changed.
            state["mode"] = json!(before.mode.as_str());
            state["failures"] = json!(bot.failures.saturating_add(1));
            state["last_error"] = json!(problem.message);
            events.push(json!({ "event": "repair_failed", "details": { "verdict": plan.verdict, "reason": problem.message } }));
        }
    }
    let last_error_at = info.last_error_at.and_then(|at| jiff::Timestamp::from_second(at).ok());
    let seen = json!({
        "url": info.url, "pending": info.pending, "last_error": info.last_error, "last_error_at": last_error_at,
        "verdict": plan.verdict,
    });
    (seen, state, Value::Array(events))
}

async fn carry_out(knowledge: &Knowledge, bot: &WatchedBot, plan: &Plan) -> Result<(), Problem> {
    let upstream = |error: AdapterError| Problem::new(502, Kind::Upstream, "knowledge.transport", error.message);
    let Some(action) = plan.action else { return Ok(()) };
    let (telegram, token) = bot_access(knowledge, &bot.secret_ref).await.map_err(upstream)?;
    if action == TransportAction::DeleteWebhook {
        return telegram.delete_webhook(&token).await.map_err(upstream);
    }
    let unset = |words: &str| Problem::new(409, Kind::Conflict, "knowledge.webhook_not_configured", words);
    let url = bot.webhook_url.as_deref().ok_or_else(|| unset("core.bot_transport_config has no webhook_url"))?;
    let reference = bot.webhook_secret_ref.as_deref();
    let reference = reference.ok_or_else(|| unset("core.bot_transport_config has no webhook_secret_ref"))?;
    let secret = knowledge.secrets.find(reference).await.map_err(|words| unset(&words))?;
    let target = WebhookTarget { url, secret: &secret };
    telegram.set_webhook(&token, &target).await.map_err(upstream)
}
