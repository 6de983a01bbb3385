//! That an answer is being made is seen in the chat of its question: `knowledge` says so, and `actions` shows it.

use std::time::Duration;

use actions::{
    contract::{StartAction, UpdateAction},
    own,
};
use futures::future::BoxFuture;
use kernel::{TraceId, WorkspaceId};
use knowledge::answers::Activity;
use platform::{Db, DbError};

const ACTION_TYPE: &str = "answer";
/// Longer than any answer takes: what a killed process left is ended by the watchdog.
const ANSWER_MAX: Duration = Duration::from_mins(10);

#[derive(Clone, Debug)]
pub(crate) struct AnswersInChats {
    pub(crate) db: Db,
}

impl Activity for AnswersInChats {
    fn begin<'a>(&'a self, workspace: WorkspaceId, chat_id: i64, action_id: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let start = StartAction {
                workspace_id: None,
                chat_id: chat_id.to_string(),
                action_id: action_id.to_owned(),
                action_type: ACTION_TYPE.to_owned(),
                display_text: Some("Ищу ответ…".to_owned()),
                payload: None,
            };
            log(own::begin(&self.db, workspace, &start, ANSWER_MAX, &TraceId::new()).await);
        })
    }

    fn end<'a>(&'a self, workspace: WorkspaceId, action_id: &'a str, is_done: bool) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let update = UpdateAction {
                workspace_id: None,
                action_id: action_id.to_owned(),
                status: if is_done { "done" } else { "error" }.to_owned(),
                chat_id: None,
                action_type: None,
                display_text: None,
                payload: None,
            };
            log(own::end(&self.db, workspace, &update, &TraceId::new()).await);
        })
    }
}

fn log(done: Result<(), DbError>) {
    if let Err(error) = done {
        tracing::warn!(%error, "knowledge.answer_not_shown");
    }
}
