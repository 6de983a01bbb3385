//! The contract with clients: the one place where types, limits, errors and default texts are written down. TypeScript, JSON Schema
//! and OpenAPI are generated from here ([`crate::generate`]).

mod errors;
mod requests;
mod texts;

pub use errors::Refusal;
pub use requests::*;
pub use texts::{Lang, default_text, error_text};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

/// Of a displayed text, in characters as people see them.
pub const DISPLAY_TEXT_GRAPHEMES_MAX: usize = 300;
/// The same in code points, because one visible character may be made of any number of them. The table has the same limit.
pub const DISPLAY_TEXT_CHARS_MAX: usize = 2000;
/// How long ago an action may have ended to be asked for with `recent`.
pub const RECENT_MINUTES_MAX: u32 = 60;
/// Where the list of active actions stops, and that of ended ones too. A client that gets so many knows that there may be more.
pub const ACTIONS_LISTED_MAX: i32 = 200;
/// What the watchdog leaves in `payload.code`.
pub const TIMEOUT: &str = "timeout";

/// How long an id from outside may be.
const ID_CHARS_MAX: usize = 128;

/// Whether an id of a chat, an action or a message can be one. `actions.is_id` says the same in the database, where nothing else is kept.
pub fn is_id(id: &str) -> bool {
    let is_hidden = |c: char| {
        let is_turning =
            matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        c.is_control() || is_turning
    };
    !id.trim().is_empty() && id.chars().count() <= ID_CHARS_MAX && !id.chars().any(is_hidden) && !matches!(id, "." | "..")
}

/// Where an action stands. It is active exactly while it is `processing`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BotActionStatus {
    Processing,
    Done,
    Error,
}

impl BotActionStatus {
    pub const ALL: [Self; 3] = [Self::Processing, Self::Done, Self::Error];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Processing => "processing",
            Self::Done => "done",
            Self::Error => "error",
        }
    }
}

/// The types of actions that have a default text. A new one is added here first, then to the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BotActionType {
    TranscribeAudio,
    Summarize,
    GenerateImage,
    ProcessFile,
}

impl BotActionType {
    pub const ALL: [Self; 4] = [Self::TranscribeAudio, Self::Summarize, Self::GenerateImage, Self::ProcessFile];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::TranscribeAudio => "transcribe_audio",
            Self::Summarize => "summarize",
            Self::GenerateImage => "generate_image",
            Self::ProcessFile => "process_file",
        }
    }
}

/// A type of the list, or any other text: a client that does not know it shows `displayText` or the neutral text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(untagged)]
pub enum ActionTypeName {
    Known(BotActionType),
    Other(String),
}

/// What a bot does in a chat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BotAction {
    #[schema(value_type = String)]
    pub workspace_id: Uuid,
    pub chat_id: String,
    /// Ties start and updates together; one id is one operation.
    pub action_id: String,
    #[schema(value_type = ActionTypeName)]
    pub action_type: String,
    pub status: BotActionStatus,
    /// What people see, before any default text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_text: Option<String>,
    /// `progress` (0 to 1) and `step` are shown as a bar, `code` says why an error is one; the rest is the sender's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub payload: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Grows with every change; times compare as texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
}

/// Who says something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    #[default]
    User,
    Bot,
    System,
}

impl MessageRole {
    pub const ALL: [Self; 3] = [Self::User, Self::Bot, Self::System];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Bot => "bot",
            Self::System => "system",
        }
    }
}

/// What was said in a chat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatMessage {
    #[schema(value_type = String)]
    pub workspace_id: Uuid,
    pub chat_id: String,
    pub message_id: String,
    /// 1, 2, 3 and so on in its chat, without holes: the order.
    pub seq: i64,
    pub role: MessageRole,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Map<String, Value>>,
    pub created_at: String,
}

/// One event of the stream of a chat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ChatEvent {
    Message {
        message: ChatMessage,
    },
    BotAction {
        action: BotAction,
    },
    /// What followed the watcher's cursor is not kept any more: read the chat again. The stream goes on from this cursor.
    Resync {
        cursor: String,
    },
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_words_of_the_lists_are_the_words_on_the_wire() {
        for known in BotActionType::ALL {
            assert_eq!(serde_json::to_value(known).unwrap(), json!(known.as_str()));
        }
        for status in BotActionStatus::ALL {
            assert_eq!(serde_json::to_value(status).unwrap(), json!(status.as_str()));
        }
        for role in MessageRole::ALL {
            assert_eq!(serde_json::to_value(role).unwrap(), json!(role.as_str()));
        }
    }

    #[test]
    fn required_fields_are_required_and_only_the_listed_statuses_are_statuses() {
        let whole = json!({ "workspaceId": Uuid::nil(), "chatId": "c", "actionId": "a", "actionType": "of_the_future", "status": "done" });
        let action: BotAction = serde_json::from_value(whole.clone()).unwrap();
        assert_eq!(serde_json::to_value(&action).unwrap(), whole, "what is absent is left out");
        for field in ["workspaceId", "chatId", "actionId", "actionType", "status"] {
            let mut without = whole.clone();
            without.as_object_mut().unwrap().remove(field);
            assert!(serde_json::from_value::<BotAction>(without).is_err(), "{field}");
        }
        let mut started = whole;
        started["status"] = json!("started");
        assert!(serde_json::from_value::<BotAction>(started).is_err());
    }

    #[test]
    fn an_event_says_its_type() {
        let resync = ChatEvent::Resync { cursor: "7-0".into() };
        assert_eq!(serde_json::to_value(resync).unwrap(), json!({ "type": "resync", "cursor": "7-0" }));
    }
}
