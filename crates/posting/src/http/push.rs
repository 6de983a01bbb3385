//! `POST /hooks/push`: accept one post. The answer comes after the commit of everything that is needed to deliver it.

use axum::{
    Extension,
    extract::{Request, State},
    http::StatusCode,
};
use kernel::{Kind, Problem, WorkspaceId};
use outbound::Fetcher;
use platform::{
    Db, DbError,
    door::{Entrance, Passage},
    http::{Answer, App, Failure, Path, current_trace, parse_json},
    wake::Topic,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::{
    media,
    store::{self, NewPost},
};

const ENTRANCE: Entrance = Entrance { kind: "webhook_push", provider: None, header: "x-beresta-secret" };

/// What became of a post.
#[derive(Debug, Deserialize, Serialize, utoipa::ToSchema)]
pub(super) struct Accepted {
    /// `accepted`, or `duplicate` when this request was accepted before.
    pub outcome: String,
    pub message_id: Option<Uuid>,
    /// How many deliveries there are of each status.
    #[schema(value_type = Object)]
    pub deliveries: Map<String, Value>,
    pub tags: Vec<String>,
    pub run_id: Uuid,
    pub trace_id: String,
}

/// Take a post: `{source_ref?, text?, parse_mode?, media?[], links?[], buttons?, tags?[], disable_preview?, silent?, scheduled_for?}`.
#[utoipa::path(post, path = "/hooks/push", request_body = Object,
    params(("X-Beresta-Secret" = String, Header, description = "the secret of a `webhook_push` endpoint")),
    responses((status = 202, body = kernel::Envelope<Accepted>), (status = 200, description = "accepted before", body = kernel::Envelope<Accepted>),
              (status = 401), (status = 413), (status = 422), (status = 429)))]
pub(super) async fn push(
    State(app): State<App>,
    Extension(fetcher): Extension<Fetcher>,
    request: Request,
) -> Result<Answer<Accepted>, Failure> {
    let secret = ENTRANCE.secret(request.headers()).map(ToOwned::to_owned);
    accept(&app, &fetcher, secret.as_deref(), request).await
}

/// The same, for senders that cannot set a header.
#[utoipa::path(post, path = "/hooks/push/{secret}", request_body = Object, params(("secret" = String, Path)),
    responses((status = 202, body = kernel::Envelope<Accepted>), (status = 401), (status = 413), (status = 422), (status = 429)))]
pub(super) async fn push_with_secret(
    State(app): State<App>,
    Extension(fetcher): Extension<Fetcher>,
    Path(secret): Path<String>,
    request: Request,
) -> Result<Answer<Accepted>, Failure> {
    accept(&app, &fetcher, Some(&secret), request).await
}

async fn accept(app: &App, fetcher: &Fetcher, secret: Option<&str>, request: Request) -> Result<Answer<Accepted>, Failure> {
    let (admission, body) = match ENTRANCE.admit(&app.db, secret, request).await? {
        Passage::Admitted { admission, body } => (admission, body),
        Passage::Unknown => {
            let message = "this push secret is not known; send it in the header `X-Beresta-Secret`";
            return Err(Problem::unauthorized(message).into());
        }
        Passage::TooLarge { admission, bytes, .. } => {
            store::note_refusal(app.db.pool(), &admission, bytes).await?;
            return Err(Problem::new(413, Kind::TooLarge, "push.too_large", admission.size_problem()).into());
        }
        Passage::RateLimited { admission, bytes, retry_after } => {
            store::note_refusal(app.db.pool(), &admission, bytes).await?;
            let message = "this endpoint takes fewer posts a second; send it again later";
            return Err(Problem::new(429, Kind::RateLimit, "push.rate_limited", message).retry_after(retry_after).into());
        }
    };
    let workspace = WorkspaceId::from(admission.workspace_id);
    let mut payload = parse_json(&body)?;
    if !payload.is_object() {
        return Err(Problem::validation("body", "a post is a JSON object").into());
    }
    // Ours, whatever the sender wrote there.
    payload["trace_id"] = json!(current_trace().as_str());
    payload["run_id"] = json!(kernel::new_id());
    payload["source"] = json!({ "kind": "push", "endpoint_id": admission.endpoint_id });
    let mut payload_hash = None;
    if media::has_addresses(&payload) {
        // Before anything is fetched: a post that cannot be one, or that was accepted before, costs its media's host nothing.
        let seen = look_at_post(&app.db, workspace, admission.endpoint_id, &payload).await?;
        if seen["outcome"] == "duplicate" {
            return answer(seen);
        }
        payload_hash = seen["payload_hash"].as_str().map(ToOwned::to_owned);
        media::keep_all(&app.db, &app.objects, fetcher, workspace, &mut payload).await?;
    }
    let mut tx = app.db.begin(workspace).await?;
    let post = NewPost { workspace: workspace.uuid(), endpoint_id: admission.endpoint_id, payload, payload_hash };
    let done = store::enqueue_messages_and_deliveries(&mut tx, &post).await?;
    tx.commit().await.map_err(DbError::from)?;
    app.db.wake().tell(crate::DELIVERIES);
    app.db.wake().tell(Topic::BUS);
    answer(done)
}

async fn look_at_post(db: &Db, workspace: WorkspaceId, endpoint_id: Uuid, payload: &Value) -> Result<Value, DbError> {
    let mut tx = db.begin(workspace).await?;
    let seen = store::look_at_post(&mut tx, workspace.uuid(), endpoint_id, payload).await?;
    tx.commit().await?;
    Ok(seen)
}

fn answer(done: Value) -> Result<Answer<Accepted>, Failure> {
    let accepted: Accepted = serde_json::from_value(done).map_err(|error| {
        tracing::error!(%error, "push.answer");
        Problem::internal()
    })?;
    let status = if accepted.outcome == "accepted" { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok(Answer(status, accepted))
}
