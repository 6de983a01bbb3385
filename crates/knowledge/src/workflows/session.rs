//! WF50: the session of a person's questions in a chat.

use kernel::Problem;
use platform::DbError;
use serde_json::{Value, json};
use uuid::Uuid;

use super::Request;
use crate::{Knowledge, search::QuestionChannel};

const META_BYTES_MAX: usize = 4 << 10;

pub(super) async fn run(knowledge: &Knowledge, request: Request) -> Result<Value, Problem> {
    let user = request.number("tg_user_id")?;
    let channel = request.channel()?;
    let chat = request.chat_of(channel, user)?;
    let meta = match &request.req["meta"] {
        Value::Null => json!({}),
        meta if meta.is_object() && meta.to_string().len() <= META_BYTES_MAX => meta.clone(),
        _ => return Err(Problem::validation("meta", "`meta` is an object of at most 4 KB")),
    };
    let query = sqlx::query_scalar("select knowledge.upsert_session($1, $2, $3, $4, $5)")
        .bind(request.workspace.uuid())
        .bind(user)
        .bind(channel.as_str())
        .bind(chat)
        .bind(meta);
    let session: Uuid = query.fetch_one(knowledge.db.pool()).await.map_err(DbError::from)?;
    Ok(json!({ "session_id": session }))
}

impl Request {
    pub(super) fn channel(&self) -> Result<QuestionChannel, Problem> {
        let channel = QuestionChannel::parse(self.text("channel")?);
        channel.ok_or_else(|| Problem::validation("channel", "`channel` is `group` or `dm`"))
    }

    /// The chat that is named; a private chat has the id of its person.
    pub(super) fn chat_of(&self, channel: QuestionChannel, user: i64) -> Result<i64, Problem> {
        match (channel, self.optional_number("chat_id")?) {
            (QuestionChannel::Group, Some(chat)) => Ok(chat),
            (QuestionChannel::Group, None) => Err(Problem::validation("chat_id", "`chat_id` must be there for a group")),
            (QuestionChannel::Private, _) => Ok(user),
        }
    }
}
