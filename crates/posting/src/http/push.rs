//! `POST /hooks/push`: accept one post. The answer comes after the commit of everything that is needed to deliver it.

use axum::{
    Extension,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use kernel::{Kind, Problem, Secret, TraceId, WorkspaceId};
use outbound::Fetcher;
use platform::{
    DbError,
    http::{Answer, App, Failure, Path, current_trace, parse_json},
    wake::Topic,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::{media, store};

const SECRET_HEADER: &str = "x-beresta-secret";

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
    headers: HeaderMap,
    body: Result<Bytes, axum::extract::rejection::BytesRejection>,
) -> Result<Answer<Accepted>, Failure> {
    let mut given = headers.get_all(SECRET_HEADER).iter();
    let secret = match (given.next(), given.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    };
    accept(&app, &fetcher, secret, whole(body)?).await
}

/// The same, for senders that cannot set a header.
#[utoipa::path(post, path = "/hooks/push/{secret}", request_body = Object, params(("secret" = String, Path)),
    responses((status = 202, body = kernel::Envelope<Accepted>), (status = 401), (status = 413), (status = 422), (status = 429)))]
pub(super) async fn push_with_secret(
    State(app): State<App>,
    Extension(fetcher): Extension<Fetcher>,
    Path(secret): Path<String>,
    body: Result<Bytes, axum::extract::rejection::BytesRejection>,
) -> Result<Answer<Accepted>, Failure> {
    accept(&app, &fetcher, Some(&secret), whole(body)?).await
}

fn whole(body: Result<Bytes, axum::extract::rejection::BytesRejection>) -> Result<Bytes, Problem> {
    body.map_err(|rejection| {
        if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
            Problem::new(413, Kind::TooLarge, "request.too_large", "the body is larger than this server accepts")
        } else {
            Problem::bad_request("request.body", "the body did not arrive whole")
        }
    })
}

async fn accept(app: &App, fetcher: &Fetcher, secret: Option<&str>, body: Bytes) -> Result<Answer<Accepted>, Failure> {
    // The same answer for a wrong, a missing and a disabled secret.
    let unknown = || Problem::unauthorized("this push secret is not known; send it in the header `X-Beresta-Secret`");
    let secret = secret.filter(|secret| !secret.is_empty() && secret.len() <= 512).ok_or_else(unknown)?;
    let admission = store::admit(app.db.pool(), &Secret::new(secret).sha256_hex(), body.len()).await?;
    match admission.verdict.as_str() {
        "admitted" => {}
        "too_large" => {
            let message =
                format!("the body has {} bytes; this endpoint takes {}", body.len(), admission.bytes_max.unwrap_or_default());
            return Err(Problem::new(413, Kind::TooLarge, "push.too_large", message).into());
        }
        "rate_limited" => {
            let mut problem = Problem::new(
                429,
                Kind::RateLimit,
                "push.rate_limited",
                "this endpoint takes fewer posts a second; send it again later",
            );
            let seconds = u64::try_from(admission.retry_after_seconds.unwrap_or(1)).unwrap_or(1);
            problem.retry_after = Some(std::time::Duration::from_secs(seconds));
            return Err(problem.into());
        }
        _ => return Err(unknown().into()),
    }
    let (Some(workspace), Some(endpoint)) = (admission.workspace_id, admission.endpoint_id) else { return Err(unknown().into()) };
    let workspace = WorkspaceId::from(workspace);
    let mut payload = parse_json(&body)?;
    if !payload.is_object() {
        return Err(Problem::validation("body", "a post is a JSON object").into());
    }
    media::keep_all(&app.db, &app.objects, fetcher, workspace, &mut payload).await?;
    let accepted = enqueue(app, workspace, endpoint, payload, &current_trace()).await?;
    let status = if accepted.outcome == "accepted" { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok(Answer(status, accepted))
}

async fn enqueue(
    app: &App,
    workspace: WorkspaceId,
    endpoint: Uuid,
    mut payload: Value,
    trace: &TraceId,
) -> Result<Accepted, Failure> {
    // Ours, whatever the sender wrote there.
    payload["trace_id"] = json!(trace.as_str());
    payload["run_id"] = json!(kernel::new_id());
    payload["source"] = json!({ "kind": "push", "endpoint_id": endpoint });
    let mut tx = app.db.begin(workspace).await?;
    let done = store::enqueue_messages_and_deliveries(&mut tx, workspace.uuid(), Some(endpoint), "push", &payload).await?;
    tx.commit().await.map_err(DbError::from)?;
    app.db.wake().tell(Topic::Deliveries);
    app.db.wake().tell(Topic::Bus);
    serde_json::from_value(done).map_err(|error| {
        tracing::error!(%error, "push.answer");
        Problem::internal().into()
    })
}
