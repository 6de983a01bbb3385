//! Signing in with a token, which is then kept in a cookie that no script can read.

use std::sync::Arc;

use askama::Template;
use axum::{
    Extension, Form, Router,
    extract::{FromRequestParts, Query, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    middleware,
    response::{Html, IntoResponse, Redirect, Response},
    routing::{get, post},
};
use kernel::{Problem, Scope, Secret};
use platform::http::{App, Ctx, Failure, current_trace};
use serde::Deserialize;

use crate::{
    Info,
    views::{ErrorPage, SignInPage},
};

const COOKIE: &str = "beresta_token";
/// The browser refuses this name from anybody but this very host, over https.
const COOKIE_HTTPS: &str = "__Host-beresta_token";
const COMMAND: &str = "beresta token create --workspace demo --scope console";
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                   form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

pub(crate) fn router() -> Router<App> {
    Router::new().route("/console/sign-in", get(show_sign_in).post(sign_in)).route("/console/sign-out", post(sign_out))
}

/// Somebody who is signed in to the console.
pub(crate) struct Visitor {
    pub(crate) ctx: Ctx,
    /// What forms send back, to show that they came from our own pages.
    pub(crate) csrf: String,
}

impl Visitor {
    pub(crate) fn check_csrf(&self, given: &str) -> Result<(), PageError> {
        // Both are hashes of the token, so a comparison that stops early tells nothing about it.
        if given == self.csrf {
            Ok(())
        } else {
            Err(PageError(Problem::forbidden("this form did not come from the console; go back, reload and try again")))
        }
    }
}

impl FromRequestParts<App> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let sign_in = || {
            // A script gets 401 and goes to the sign-in page by itself.
            if parts.uri.path().starts_with("/console/fragments/") || parts.uri.path() == "/console/live" {
                return StatusCode::UNAUTHORIZED.into_response();
            }
            let next = parts.uri.path_and_query().map_or("/console", |path| path.as_str());
            Redirect::to(&format!("/console/sign-in?next={}", crate::views::query_value(next))).into_response()
        };
        let is_https = parts.extensions.get::<Arc<Info>>().is_some_and(|info| info.is_https);
        let Some(token) = cookie(&parts.headers, is_https) else { return Err(sign_in()) };
        if parts.method != Method::GET && parts.method != Method::HEAD && !is_same_origin(&parts.headers) {
            return Err(PageError(Problem::forbidden("this request came from another site")).into_response());
        }
        let ctx = match Ctx::authenticate(app, &token).await {
            Ok(ctx) if ctx.principal.scopes.contains(Scope::Console) => ctx,
            Ok(_) => return Err(sign_in()),
            Err(problem) if problem.status == 401 => return Err(sign_in()),
            Err(problem) => return Err(PageError(problem).into_response()),
        };
        let csrf = Secret::new(format!("csrf:{}", token.expose())).sha256_hex();
        Ok(Self { ctx, csrf })
    }
}

/// Before an API that pages of ours call: the cookie stands for the token, which no script can read. What the token may do
/// is checked behind it, as for everybody.
pub(crate) async fn cookie_as_token(mut request: Request, next: middleware::Next) -> Response {
    let is_change = request.method() != Method::GET && request.method() != Method::HEAD;
    if is_change && !is_same_origin(request.headers()) {
        return Failure(Problem::forbidden("this request came from another site")).into_response();
    }
    let is_https = request.extensions().get::<Arc<Info>>().is_some_and(|info| info.is_https);
    let token = cookie(request.headers(), is_https);
    let value = token.and_then(|token| HeaderValue::try_from(format!("Bearer {}", token.expose())).ok());
    request.headers_mut().remove(header::AUTHORIZATION);
    if let Some(mut value) = value {
        value.set_sensitive(true);
        request.headers_mut().insert(header::AUTHORIZATION, value);
    }
    next.run(request).await
}

/// Browsers say where a request came from, in one of two ways; one that does not say is no browser.
fn is_same_origin(headers: &HeaderMap) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin" || site == "none";
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let origin = origin.to_str().unwrap_or_default();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    origin.split_once("://").is_some_and(|(_, from)| from == host)
}

fn cookie_name(is_https: bool) -> &'static str {
    if is_https { COOKIE_HTTPS } else { COOKIE }
}

fn cookie(headers: &HeaderMap, is_https: bool) -> Option<Secret> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == cookie_name(is_https)).map(|(_, value)| Secret::new(value))
}

fn set_cookie(info: &Info, value: &str, age_seconds: u32) -> String {
    let (name, secure) = (cookie_name(info.is_https), if info.is_https { "; Secure" } else { "" });
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age_seconds}{secure}")
}

#[derive(Deserialize)]
struct Next {
    next: Option<String>,
}

/// Only a path of ours: anything else would lead people away after they signed in.
fn own_path(next: Option<String>) -> String {
    next.filter(|path| path.starts_with("/console") && !path.contains('\\') && !path.contains("//"))
        .unwrap_or_else(|| "/console".to_owned())
}

async fn show_sign_in(Query(query): Query<Next>) -> Response {
    page(StatusCode::OK, &SignInPage { next: own_path(query.next), error: None, command: COMMAND.to_owned() })
}

#[derive(Deserialize)]
struct SignIn {
    token: String,
    next: Option<String>,
}

async fn sign_in(
    State(app): State<App>,
    Extension(info): Extension<Arc<Info>>,
    headers: HeaderMap,
    Form(form): Form<SignIn>,
) -> Response {
    let next = own_path(form.next);
    let refuse = |status: StatusCode, message: String| {
        page(status, &SignInPage { next: next.clone(), error: Some(message), command: COMMAND.to_owned() })
    };
    if !is_same_origin(&headers) {
        return refuse(StatusCode::FORBIDDEN, "This request came from another site.".to_owned());
    }
    let token = Secret::new(form.token.trim());
    // A token has no character that a cookie cannot hold; what has one cannot be a token.
    let is_plain = token.expose().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    let found = if is_plain { Ctx::authenticate(&app, &token).await } else { Err(Problem::unauthorized("")) };
    match found {
        Ok(ctx) if ctx.principal.scopes.contains(Scope::Console) => {
            let cookie = set_cookie(&info, token.expose(), 30 * 24 * 3600);
            ([(header::SET_COOKIE, cookie)], Redirect::to(&next)).into_response()
        }
        Ok(_) => refuse(StatusCode::FORBIDDEN, format!("This token lacks the scope `console`. Create one with: {COMMAND}")),
        Err(problem) if problem.status == 401 => {
            refuse(StatusCode::UNAUTHORIZED, format!("This token is not known. Create one with: {COMMAND}"))
        }
        Err(problem) => refuse(StatusCode::SERVICE_UNAVAILABLE, problem.message),
    }
}

#[derive(Deserialize)]
struct SignOut {
    csrf: String,
}

async fn sign_out(
    visitor: Visitor,
    Extension(info): Extension<Arc<Info>>,
    Form(form): Form<SignOut>,
) -> Result<Response, PageError> {
    visitor.check_csrf(&form.csrf)?;
    Ok(([(header::SET_COOKIE, set_cookie(&info, "", 0))], Redirect::to("/console/sign-in")).into_response())
}

/// A rendered page.
pub(crate) fn page(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => (status, Html(html)).into_response(),
        Err(error) => {
            tracing::error!(%error, "console.render");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// A problem as a page for people.
pub(crate) struct PageError(pub(crate) Problem);

impl<E: Into<platform::http::Failure>> From<E> for PageError {
    fn from(error: E) -> Self {
        Self(error.into().0)
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let (title, advice) = match self.0.status {
            404 => ("No such page", "Go back to the overview and follow its links."),
            403 => ("Not allowed", "Go back, reload the page and try again."),
            503 => ("Not right now", "Try again in a moment; nothing was lost."),
            _ => ("Something failed", "Try again; if it stays, look for the trace id in the server's log."),
        };
        let status = StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let error = ErrorPage {
            status: self.0.status,
            title: title.to_owned(),
            message: self.0.message,
            advice: advice.to_owned(),
            trace_id: Some(current_trace().to_string()),
        };
        page(status, &error)
    }
}

/// Headers that keep pages ours: no foreign scripts, no frames, no copies in caches.
pub(crate) async fn protect(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CSP));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
