//! Trying rules without a customer: a conversation with the real rules of a workspace whose state is kept here and nowhere
//! else. Nothing is written, nothing is sent.

use jiff::{SignedDuration, Timestamp};
use kernel::WorkspaceId;
use platform::{Db, DbError};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::store;

/// What a person does in a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    Says(String),
    Presses(String),
    Starts,
    /// Sends something without words.
    Sends,
}

/// What the bot made of it.
#[derive(Clone, Debug, Deserialize)]
pub struct Said {
    /// `answered`, `re_asked`, `fallback`, `escalated`, `greeted`, `unsupported` or `muted`.
    pub outcome: String,
    pub response: Option<String>,
    #[serde(default)]
    pub buttons: Vec<Vec<QuickReply>>,
    pub rule_id: Option<String>,
    pub rule_version: Option<i32>,
    pub state_before: String,
    pub state_after: String,
    /// Which keyword matched and how a tie was decided, or which guard stopped it.
    #[serde(default)]
    pub why: Value,
}

/// A quick reply as a rule has it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct QuickReply {
    pub text: String,
    pub payload: Option<String>,
}

/// One conversation. Its clock moves only when told to.
#[derive(Clone, Debug)]
pub struct Talk {
    db: Db,
    workspace: WorkspaceId,
    provider: String,
    state: Value,
    now: Timestamp,
}

impl Talk {
    pub fn new(db: &Db, workspace: WorkspaceId, provider: &str) -> Self {
        Self { db: db.clone(), workspace, provider: provider.to_owned(), state: json!({}), now: db.clock().now() }
    }

    /// Lets time pass, as a customer does who comes back later.
    pub fn wait(&mut self, time: SignedDuration) {
        self.now += time;
    }

    pub async fn act(&mut self, act: &Act) -> Result<Said, DbError> {
        let message = match act {
            Act::Says(text) => json!({ "kind": "text", "text": text }),
            Act::Presses(payload) => json!({ "kind": "button", "payload": payload }),
            Act::Starts => json!({ "kind": "start" }),
            Act::Sends => json!({ "kind": "other" }),
        };
        let mut tx = self.db.begin(self.workspace).await?;
        let decision = store::try_message(&mut *tx, self.workspace, &self.provider, &self.state, &message, self.now).await?;
        self.state = json!({
            "state": decision["state_after"], "context": decision["context"], "expires_at": decision["expires_at"],
        });
        serde_json::from_value(decision).map_err(|error| DbError::Bug(sqlx::Error::Decode(error.into())))
    }
}
