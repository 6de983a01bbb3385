//! Who calls and for which workspace: the first parameter of every handler that touches data.

use axum::{
    extract::{FromRequestParts, OptionalFromRequestParts},
    http::{HeaderMap, header, request::Parts},
};
use kernel::{Problem, Scope, Secret, TraceId};
use serde::Deserialize;
use sqlx::{Postgres, Transaction};

use super::{App, Failure, layers};
use crate::{
    DbError,
    tokens::{self, Principal},
};

/// An authenticated call. Its transactions see the caller's workspace and nothing else.
#[derive(Clone, Debug)]
pub struct Ctx {
    pub app: App,
    pub principal: Principal,
    pub trace_id: TraceId,
}

impl Ctx {
    pub fn require(&self, scope: Scope) -> Result<(), Problem> {
        self.principal.scopes.require(scope)
    }

    pub async fn begin(&self) -> Result<Transaction<'static, Postgres>, DbError> {
        self.app.db.begin(self.principal.workspace_id).await
    }

    /// Checks a token and makes the context of its holder.
    pub async fn authenticate(app: &App, token: &Secret) -> Result<Self, Problem> {
        let principal = tokens::authenticate_at_the_door(&app.db, token).await?;
        let principal = principal.ok_or_else(|| {
            Problem::unauthorized(
                "this token is not known, or it was revoked or has expired; create one with `beresta token create`",
            )
        })?;
        layers::with_request(|request| request.map(|request| request.workspace.set(principal.workspace_id)));
        Ok(Self { app: app.clone(), principal, trace_id: layers::current_trace() })
    }
}

impl FromRequestParts<App> for Ctx {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let token = bearer(&parts.headers)?;
        Ok(Self::authenticate(app, &token).await?)
    }
}

impl OptionalFromRequestParts<App> for Ctx {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Option<Self>, Failure> {
        if !parts.headers.contains_key(header::AUTHORIZATION) {
            return Ok(None);
        }
        <Self as FromRequestParts<App>>::from_request_parts(parts, app).await.map(Some)
    }
}

/// The token of an `Authorization: Bearer …` header.
pub fn bearer(headers: &HeaderMap) -> Result<Secret, Problem> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let missing = || Problem::unauthorized("this call needs a token: send the header `Authorization: Bearer <token>`");
    let value = values.next().ok_or_else(missing)?;
    if values.next().is_some() {
        return Err(Problem::unauthorized("the header `Authorization` was sent more than once"));
    }
    let token = value.to_str().ok().and_then(|text| {
        let (scheme, token) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    token.filter(|token| !token.is_empty()).map(Secret::new).ok_or_else(missing)
}

/// A page of a list that is read by key: how many at most.
#[derive(Clone, Copy, Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// How many at most, 1 to 200.
    #[serde(default = "Page::default_limit")]
    pub limit: i64,
}

impl Page {
    /// How many there may be on a page.
    pub const LIMITS: std::ops::RangeInclusive<i64> = 1..=200;

    pub fn default_limit() -> i64 {
        50
    }

    pub fn checked(limit: i64) -> Result<i64, Problem> {
        if Self::LIMITS.contains(&limit) {
            return Ok(limit);
        }
        Err(Problem::validation("limit", "`limit` is a number from 1 to 200"))
    }
}
