//! One call: who calls, with what, and what is written down about it.

use std::sync::Arc;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use bytes::Bytes;

use crate::clock::unix_ms;
use crate::faults::Provider;
use crate::http::{self, BodyError, Part};
use crate::ledger::{Accepted, CallNote, FileNote, MessageId, Sent};
use crate::params::Params;
use crate::simulators::World;

use super::bots::Bot;
use super::chats::Recipient;
use super::markup::Markup;
use super::message::place_of;
use super::problem::Problem;
use super::route::{Endpoint, Route};

pub(super) struct Call {
    pub(super) world: Arc<World>,
    /// `None` only at the upload and file hosts.
    bot: Option<Arc<Bot>>,
    pub(super) route: Route,
    pub(super) query: Params,
    pub(super) headers: HeaderMap,
    pub(super) base_url: String,
    pub(super) body: Bytes,
    pub(super) parts: Vec<Part>,
    /// The chat or person as the caller wrote it.
    pub(super) target: Option<Arc<str>>,
    started_at: i64,
    pub(super) late: bool,
    pub(super) dropped: bool,
    pub(super) sent: Option<Arc<Sent>>,
}

/// What an accepted call says, for the ledger.
#[derive(Default)]
pub(super) struct Said {
    pub(super) chat_id: i64,
    pub(super) text: Option<Arc<str>>,
    pub(super) markup: Vec<Markup>,
    pub(super) params: Params,
    pub(super) files: Vec<FileNote>,
    pub(super) mid: Option<Arc<str>>,
}

impl Call {
    pub(super) async fn read(
        world: &Arc<World>,
        bot: Option<Arc<Bot>>,
        route: Route,
        parts: &Parts,
        body: Body,
    ) -> Result<Self, (&'static str, Problem)> {
        let name = route.endpoint.name();
        let refuse = |error| match error {
            BodyError::TooLarge => (name, Problem::too_large()),
            BodyError::Broken => (name, Problem::undeserializable()),
        };
        let mut query = Params::default();
        for (name, value) in url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()) {
            query.push(name, value.into_owned());
        }
        let (body, files) = if http::content_type(parts).starts_with("multipart/form-data") {
            (Bytes::new(), http::read_multipart(parts, body).await.map_err(refuse)?)
        } else {
            (http::read_body(body).await.map_err(refuse)?, Vec::new())
        };
        let target = target(&route, &query, bot.as_deref());
        // Only uploads look at headers again.
        let headers = if route.endpoint == Endpoint::Upload { parts.headers.clone() } else { HeaderMap::new() };
        Ok(Self {
            world: Arc::clone(world),
            bot,
            route,
            query,
            headers,
            base_url: http::base_url(parts),
            body,
            parts: files,
            target,
            started_at: unix_ms(),
            late: false,
            dropped: false,
            sent: None,
        })
    }

    pub(super) fn bot(&self) -> Result<&Arc<Bot>, Problem> {
        self.bot.as_ref().ok_or_else(|| Problem::token("No access token"))
    }

    fn bot_id(&self) -> i64 {
        self.bot.as_ref().map_or(0, |bot| bot.user.user_id)
    }

    /// The body as a JSON object.
    pub(super) fn json(&self) -> Result<Params, Problem> {
        serde_json::from_slice(&self.body).map_err(|_| Problem::undeserializable())
    }

    pub(super) fn aims_at(&self, target: &str) -> bool {
        self.target.as_deref() == Some(target)
    }

    pub(super) fn admit(&self) -> Result<(), Problem> {
        let limits = &self.world.max.limits;
        if limits.get() == (0, 0) {
            return Ok(());
        }
        let target = self.target.as_deref().filter(|_| self.route.endpoint.writes_to_chat());
        let chat_id = target.and_then(|target| target.parse().ok());
        if limits.admit(self.bot_id(), chat_id) { Ok(()) } else { Err(Problem::flood()) }
    }

    /// Writes the accepted call into the ledger. Called under the lock of the state, so that the ledger has the
    /// order of the messages.
    pub(super) fn accept(&mut self, said: Said) {
        let parse_mode = said.params.text("format").map(Into::into);
        let mut params = said.params;
        params.extend(std::mem::take(&mut self.query));
        let accepted = Accepted {
            provider: Provider::Max,
            bot_id: self.bot_id(),
            method: self.route.endpoint.name(),
            target: self.target.clone().unwrap_or_default(),
            chat_id: said.chat_id,
            text: said.text,
            parse_mode,
            entities: (!said.markup.is_empty()).then(|| Box::new(serde_json::to_value(said.markup).unwrap_or_default())),
            params,
            files: said.files,
            message_ids: said.mid.into_iter().map(MessageId::Text).collect(),
        };
        self.sent = Some(self.world.ledger.accept(accepted, !self.late));
    }

    pub(super) fn note_served(&self, status: u16, error: Option<&str>) {
        self.write_note(status, error, self.dropped, self.dropped);
    }

    pub(super) fn note(&self, status: u16, error: Option<&str>, dropped: bool) {
        self.write_note(status, error, true, dropped);
    }

    fn write_note(&self, status: u16, error: Option<&str>, fault: bool, dropped: bool) {
        self.world.ledger.call(CallNote {
            provider: Provider::Max,
            bot_id: self.bot_id(),
            method: self.route.endpoint.name(),
            target: self.target.clone(),
            status,
            error: error.map(Into::into),
            started_at: self.started_at,
            fault,
            dropped,
        });
    }
}

/// Which chat a call is about: named in the query or the path, or the one of the message it names.
fn target(route: &Route, query: &Params, bot: Option<&Bot>) -> Option<Arc<str>> {
    if let Some(id) = query.text("chat_id").or_else(|| query.text("user_id")) {
        return Some(id.as_ref().into());
    }
    match route.endpoint {
        Endpoint::Chat | Endpoint::Membership | Endpoint::ChatAction => Some(route.argument.as_str().into()),
        Endpoint::Answer => {
            let inbox = crate::sync::lock(&bot?.inbox);
            let (chat_id, _) = inbox.callback(&query.text("callback_id")?)?;
            Some(chat_id.to_string().into())
        }
        _ => {
            let (chat_id, _) = place_of(&query.text("message_id")?)?;
            Some(chat_id.to_string().into())
        }
    }
}

/// The recipient named in the query. With both ids `chat_id` wins: what the provider does then is not known.
pub(super) fn recipient(query: &Params) -> Result<Recipient, Problem> {
    let parsed =
        |name: &str| query.text(name).map(|id| id.parse().map_err(|_| Problem::payload(format!("Invalid {name}: {id}"))));
    if let Some(chat_id) = parsed("chat_id") {
        return chat_id.map(Recipient::Chat);
    }
    match parsed("user_id") {
        Some(user_id) => user_id.map(Recipient::User),
        None => Err(Problem::payload("Unknown recipient")),
    }
}
