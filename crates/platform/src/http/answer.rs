//! Answers in the envelope.

use std::time::Duration;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use kernel::{Correlation, Envelope, EnvelopeMeta, Problem};
use serde::Serialize;

use super::layers;
use crate::{DbError, objects};

/// A success: status and data.
#[derive(Debug)]
pub struct Answer<T>(pub StatusCode, pub T);

impl<T> Answer<T> {
    pub fn ok(data: T) -> Self {
        Self(StatusCode::OK, data)
    }
}

impl<T: Serialize> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        respond(self.0, &Envelope::success(self.0.as_u16(), self.1, meta()))
    }
}

/// A failure: any problem, as an answer.
#[derive(Debug)]
pub struct Failure(pub Problem);

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl From<objects::Error> for Failure {
    fn from(error: objects::Error) -> Self {
        Self(error.into())
    }
}

impl From<DbError> for Failure {
    fn from(error: DbError) -> Self {
        Self(error.into())
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        DbError::from(error).into()
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry_after = self.0.retry_after;
        let mut response = respond(status, &Envelope::<()>::failure(self.0, meta()));
        if let Some(after) = retry_after {
            let seconds = (after + Duration::from_millis(999)).as_secs().max(1);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

fn respond<T: Serialize>(status: StatusCode, envelope: &Envelope<T>) -> Response {
    let body = serde_json::to_vec(envelope).unwrap_or_default();
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn meta() -> EnvelopeMeta {
    layers::with_request(|request| EnvelopeMeta {
        source: request.map_or_else(|| "beresta".to_owned(), |request| request.source.clone()),
        ts: jiff::Timestamp::now(),
        correlation: Correlation {
            correlation_id: request.map_or_else(kernel::new_id, |request| request.correlation_id),
            trace_id: request.map(|request| request.trace_id.clone()),
            tenant_id: request.and_then(|request| request.workspace.get().copied()),
            ..Correlation::default()
        },
    })
}
