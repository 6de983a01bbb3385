//! What clients send, and what they are answered. Fields that are not known are ignored: an older server takes a newer client. One that is missing
//! is read as an empty text, which the database refuses by the name of the field, so that the caller is told in its own language.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ActionTypeName, BotAction, BotActionStatus, ChatMessage, MessageRole};

/// A bot has begun to do something.
#[derive(Clone, Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartAction {
    /// The workspace of the token, if it is given at all.
    pub workspace_id: Option<String>,
    /// 1 to 128 characters.
    #[serde(default)]
    #[schema(required)]
    pub chat_id: String,
    /// 1 to 128 characters; best a UUID that the client has made.
    #[serde(default)]
    #[schema(required)]
    pub action_id: String,
    /// 1 to 64 characters.
    #[serde(default)]
    #[schema(value_type = ActionTypeName, required)]
    pub action_type: String,
    /// At most 300 characters are shown, without HTML.
    pub display_text: Option<String>,
    #[schema(value_type = Option<Object>)]
    pub payload: Option<Map<String, Value>>,
}

/// How an action goes on, or that it has ended. What is absent or null stays as it was, except that an error never keeps the text: it said what was
/// being done.
#[derive(Clone, Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpdateAction {
    /// The workspace of the token, if it is given at all.
    pub workspace_id: Option<String>,
    #[serde(default)]
    #[schema(required)]
    pub action_id: String,
    #[serde(default)]
    #[schema(value_type = BotActionStatus, required)]
    pub status: String,
    /// The chat of the action, if it is given at all.
    pub chat_id: Option<String>,
    /// The type of the action, if it is given at all.
    #[schema(value_type = Option<ActionTypeName>)]
    pub action_type: Option<String>,
    pub display_text: Option<String>,
    #[schema(value_type = Option<Object>)]
    pub payload: Option<Map<String, Value>>,
}

/// What became of a start, an update or a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It is new; published.
    Created,
    /// Something is different now; published.
    Changed,
    /// A repeat; not published.
    Unchanged,
    /// The action had ended before; the state that won comes back.
    Ignored,
}

impl Outcome {
    /// Whether whoever watches is told.
    pub fn is_news(self) -> bool {
        matches!(self, Self::Created | Self::Changed)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ActionAnswer {
    pub action: BotAction,
    pub outcome: Outcome,
}

/// The actions of a chat, those that changed last first.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ActionList {
    /// The active ones.
    pub actions: Vec<BotAction>,
    /// Those that ended in the minutes that were asked for.
    pub recent: Vec<BotAction>,
    /// Give it to the stream as `since`: it was taken before the lists were read.
    pub cursor: String,
}

/// Something to say in a chat.
#[derive(Clone, Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewMessage {
    /// The workspace of the token, if it is given at all.
    pub workspace_id: Option<String>,
    /// An id that the client has made: sending it again changes nothing.
    pub message_id: Option<String>,
    #[serde(default = "role_of_people")]
    #[schema(value_type = MessageRole)]
    pub role: String,
    /// 1 to 8000 characters.
    #[serde(default)]
    #[schema(required)]
    pub text: String,
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Map<String, Value>>,
}

fn role_of_people() -> String {
    MessageRole::default().as_str().to_owned()
}

/// The same from a tool that cannot put the chat into the address.
#[derive(Clone, Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewMessageInChat {
    /// 1 to 128 characters.
    #[serde(default)]
    #[schema(required)]
    pub chat_id: String,
    #[serde(flatten)]
    pub message: NewMessage,
}

#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MessageAnswer {
    pub message: ChatMessage,
    pub outcome: Outcome,
}

/// What was said in a chat, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MessageList {
    pub messages: Vec<ChatMessage>,
    /// Give it as `before` to get the next page; null on the last one.
    #[serde(default)]
    pub next: Option<i64>,
    /// Give it to the stream as `since`: it was taken before the list was read.
    pub cursor: String,
}

/// A chat at a glance.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatRead {
    pub chat_id: String,
    pub created_at: String,
    /// When the last message came, or the chat began.
    pub active_at: String,
    /// The number of the last message.
    pub messages: i64,
    /// How many actions are active; counting stops after 100.
    pub processing: i64,
}

/// The chats of the workspace, those that were active last first.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ChatList {
    pub chats: Vec<ChatRead>,
    /// Give it as `before` to get the next page; null on the last one.
    pub next: Option<String>,
}
