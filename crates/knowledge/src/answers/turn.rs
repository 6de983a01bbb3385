//! A question that was taken, as `knowledge.read_turn` tells it.

use kernel::{Problem, WorkspaceId};
use platform::DbError;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use crate::{
    Knowledge,
    search::{Asker, QuestionChannel},
};

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct QuestionTurn {
    pub(crate) id: i64,
    pub(crate) session_id: Uuid,
    pub(crate) bot_id: Option<Uuid>,
    pub(crate) tg_user_id: i64,
    channel: String,
    pub(crate) chat_id: i64,
    pub(crate) question: String,
    pub(crate) question_message_fk: Option<i64>,
    pub(crate) thread_id: Option<i32>,
    pub(crate) status: String,
    pub(crate) answer_text: Option<String>,
    pub(crate) citations: Value,
    /// The last questions of the session, the oldest first.
    pub(crate) before: Vec<EarlierTurn>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct EarlierTurn {
    pub(crate) question: String,
    pub(crate) answer: Option<String>,
}

impl QuestionTurn {
    pub(crate) async fn read(knowledge: &Knowledge, workspace: WorkspaceId, turn_id: i64) -> Result<Self, Problem> {
        let query = sqlx::query_scalar("select knowledge.read_turn($1, $2)").bind(workspace.uuid()).bind(turn_id);
        let found: Option<Value> = query.fetch_one(knowledge.db.pool()).await.map_err(DbError::from)?;
        Self::of(found.ok_or_else(|| Problem::not_found("question"))?)
    }

    pub(crate) fn of(row: Value) -> Result<Self, Problem> {
        serde_json::from_value(row).map_err(|_| Problem::internal())
    }

    pub(crate) fn channel(&self) -> QuestionChannel {
        QuestionChannel::parse(&self.channel).unwrap_or(QuestionChannel::Group)
    }

    pub(crate) fn asker(&self) -> Asker {
        let channel = self.channel();
        Asker { tg_user_id: self.tg_user_id, channel, chat_id: (channel == QuestionChannel::Group).then_some(self.chat_id) }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.status != "asked"
    }
}
