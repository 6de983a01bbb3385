//! Paths and verbs to endpoints.

use axum::http::Method;
use axum::response::Response;

use crate::http;

use super::call::Call;
use super::problem::Problem;
use super::{edit, info, polling, send, subscriptions, uploads};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    Me,
    SetCommands,
    SendMessage,
    EditMessage,
    DeleteMessage,
    ListMessages,
    GetMessage,
    Answer,
    NewUpload,
    Upload,
    Download,
    Video,
    Chat,
    Membership,
    ChatAction,
    Subscribe,
    Subscriptions,
    Unsubscribe,
    Updates,
}

pub(super) struct Route {
    pub(super) endpoint: Endpoint,
    /// What stands for `{…}` in the path.
    pub(super) argument: String,
}

impl Endpoint {
    /// The name by which faults and ledgers know it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Me => "GET /me",
            Self::SetCommands => "PATCH /me/commands",
            Self::SendMessage => "POST /messages",
            Self::EditMessage => "PUT /messages",
            Self::DeleteMessage => "DELETE /messages",
            Self::ListMessages => "GET /messages",
            Self::GetMessage => "GET /messages/{mid}",
            Self::Answer => "POST /answers",
            Self::NewUpload => "POST /uploads",
            Self::Upload => "POST /upload",
            Self::Download => "GET /files",
            Self::Video => "GET /videos",
            Self::Chat => "GET /chats",
            Self::Membership => "GET /chats/members/me",
            Self::ChatAction => "POST /chats/actions",
            Self::Subscribe => "POST /subscriptions",
            Self::Subscriptions => "GET /subscriptions",
            Self::Unsubscribe => "DELETE /subscriptions",
            Self::Updates => "GET /updates",
        }
    }

    /// Whether the provider counts it against the limit of the chat.
    pub(super) const fn writes_to_chat(self) -> bool {
        matches!(self, Self::SendMessage | Self::EditMessage | Self::Answer)
    }
}

impl Route {
    pub(super) fn read(method: &Method, path: &str) -> Result<Self, Problem> {
        let path = http::percent_decode(path.strip_prefix("/max").unwrap_or(path));
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let verbs: &[(Method, Endpoint)] = match segments[..] {
            ["me"] => &[(Method::GET, Endpoint::Me)],
            ["me", "commands"] => &[(Method::PATCH, Endpoint::SetCommands)],
            ["messages"] => &[
                (Method::POST, Endpoint::SendMessage),
                (Method::PUT, Endpoint::EditMessage),
                (Method::DELETE, Endpoint::DeleteMessage),
                (Method::GET, Endpoint::ListMessages),
            ],
            ["messages", _] => &[(Method::GET, Endpoint::GetMessage)],
            ["answers"] => &[(Method::POST, Endpoint::Answer)],
            ["uploads"] => &[(Method::POST, Endpoint::NewUpload)],
            ["upload", _] => &[(Method::POST, Endpoint::Upload)],
            ["files", _] => &[(Method::GET, Endpoint::Download)],
            ["videos", _] => &[(Method::GET, Endpoint::Video)],
            ["chats", _] => &[(Method::GET, Endpoint::Chat)],
            ["chats", _, "members", "me"] => &[(Method::GET, Endpoint::Membership)],
            ["chats", _, "actions"] => &[(Method::POST, Endpoint::ChatAction)],
            ["subscriptions"] => &[
                (Method::POST, Endpoint::Subscribe),
                (Method::GET, Endpoint::Subscriptions),
                (Method::DELETE, Endpoint::Unsubscribe),
            ],
            ["updates"] => &[(Method::GET, Endpoint::Updates)],
            _ => return Err(Problem::not_found(format!("Path {path} is not recognized"))),
        };
        let endpoint = verbs.iter().find(|(verb, _)| verb == method).map(|(_, endpoint)| *endpoint);
        let endpoint = endpoint.ok_or_else(Problem::method_not_allowed)?;
        let argument = segments.get(1).copied().unwrap_or_default().to_owned();
        Ok(Self { endpoint, argument })
    }
}

pub(super) async fn run(call: &mut Call) -> Result<Response, Problem> {
    match call.route.endpoint {
        Endpoint::Me => info::me(call),
        Endpoint::SetCommands => info::set_commands(call),
        Endpoint::SendMessage => send::send_message(call),
        Endpoint::EditMessage => edit::edit_message(call),
        Endpoint::DeleteMessage => edit::delete_message(call),
        Endpoint::ListMessages => info::list_messages(call),
        Endpoint::GetMessage => info::get_message(call),
        Endpoint::Answer => edit::answer(call),
        Endpoint::NewUpload => uploads::new_upload(call),
        Endpoint::Upload => uploads::upload(call),
        Endpoint::Download => uploads::download(call),
        Endpoint::Video => uploads::video(call),
        Endpoint::Chat => info::chat(call),
        Endpoint::Membership => info::membership(call),
        Endpoint::ChatAction => info::chat_action(call),
        Endpoint::Subscribe => subscriptions::subscribe(call),
        Endpoint::Subscriptions => subscriptions::list(call),
        Endpoint::Unsubscribe => subscriptions::unsubscribe(call),
        Endpoint::Updates => polling::updates(call).await,
    }
}
