//! Signing in with a token, which is then kept in a cookie that no script can read.

use std::{collections::HashMap, sync::Arc};

use axum::{
    Extension, Form, Router,
    extract::{FromRequestParts, OriginalUri, Query, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    middleware,
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use kernel::{Problem, Secret};
use platform::{
    http::{App, Ctx, Failure, current_trace},
    scopes,
};
use serde::Deserialize;

use crate::{
    Info,
    page::document,
    sections::Menu,
    views::{ErrorPage, SignInPage, query_value},
};

const COOKIE: &str = "beresta_token";
/// A browser accepts this name only from this very host, over https.
const COOKIE_HTTPS: &str = "__Host-beresta_token";
const COMMAND: &str = "beresta token create --workspace demo --scope console";
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                   form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

pub(crate) fn router() -> Router<App> {
    Router::new().route("/sign-in", get(show_sign_in).post(sign_in)).route("/sign-out", post(sign_out))
}

/// A signed-in request for a page.
pub(crate) struct Visitor {
    pub(crate) ctx: Ctx,
    /// The token that forms send back, to show that they came from our own pages.
    pub(crate) csrf: String,
    /// The path of the page after `/console`.
    pub(crate) path: String,
    pub(crate) query: HashMap<String, String>,
    /// Whether the region of the page is asked for alone.
    pub(crate) is_fragment: bool,
    pub(crate) menu: Arc<Menu>,
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
        let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |original| &original.0).clone();
        let path = uri.path().strip_prefix("/console").unwrap_or_default();
        let fragment = path.strip_prefix("/fragments");
        let sign_in = || {
            // A script gets 401 and goes to the sign-in page by itself.
            if fragment.is_some() || path == "/live" {
                return StatusCode::UNAUTHORIZED.into_response();
            }
            let next = uri.path_and_query().map_or("/console", |path| path.as_str());
            Redirect::to(&format!("/console/sign-in?next={}", query_value(next))).into_response()
        };
        let is_https = parts.extensions.get::<Arc<Info>>().is_some_and(|info| info.is_https);
        let Some(token) = cookie(&parts.headers, is_https) else { return Err(sign_in()) };
        if parts.method != Method::GET && parts.method != Method::HEAD && !is_same_origin(&parts.headers) {
            return Err(PageError(Problem::forbidden("this request came from another site")).into_response());
        }
        let ctx = match Ctx::authenticate(app, &token).await {
            Ok(ctx) if ctx.principal.scopes.contains(scopes::CONSOLE) => ctx,
            Ok(_) => return Err(sign_in()),
            Err(problem) if problem.status == 401 => return Err(sign_in()),
            Err(problem) => return Err(PageError(problem).into_response()),
        };
        let menu = Extension::from_request_parts(parts, app).await.map_err(IntoResponse::into_response)?;
        let query = Query::try_from_uri(&uri)
            .map_err(|rejection| PageError(Problem::bad_request("request.query", rejection.body_text())).into_response())?;
        Ok(Self {
            ctx,
            csrf: Secret::new(format!("csrf:{}", token.expose())).sha256_hex(),
            path: fragment.unwrap_or(path).to_owned(),
            query: query.0,
            is_fragment: fragment.is_some(),
            menu: menu.0,
        })
    }
}

/// Before an API that our own pages call: puts the token from the cookie, which no script can read, into the header. The API
/// checks what the token may do.
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

/// A browser names the origin of a request in one of two headers; a client that sends neither is no browser.
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
struct NextAddress {
    next: Option<String>,
}

/// Only a path of ours: anything else would lead people away after they signed in.
fn own_path(next: Option<String>) -> String {
    next.filter(|path| path.starts_with("/console") && !path.contains('\\') && !path.contains("//"))
        .unwrap_or_else(|| "/console".to_owned())
}

async fn show_sign_in(Query(query): Query<NextAddress>) -> Response {
    document(StatusCode::OK, &SignInPage { next: own_path(query.next), error: None, command: COMMAND.to_owned() })
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
        document(status, &SignInPage { next: next.clone(), error: Some(message), command: COMMAND.to_owned() })
    };
    if !is_same_origin(&headers) {
        return refuse(StatusCode::FORBIDDEN, "This request came from another site.".to_owned());
    }
    let token = Secret::new(form.token.trim());
    // Every character of a token may stand in a cookie; a text with another character is not a token.
    let is_plain = token.expose().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    let found = if is_plain { Ctx::authenticate(&app, &token).await } else { Err(Problem::unauthorized("")) };
    match found {
        Ok(ctx) if ctx.principal.scopes.contains(scopes::CONSOLE) => {
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

/// A problem, shown as a page.
pub(crate) struct PageError(pub(crate) Problem);

impl<E: Into<Failure>> From<E> for PageError {
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
        document(status, &error)
    }
}

/// Security headers of every page: no foreign scripts, no frames, no copies in caches.
pub(crate) async fn protect(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CSP));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
