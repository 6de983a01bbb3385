//! What is seen of an answer while it is made: the program wires this to the chats that show what bots do.

use std::fmt::Debug;

use futures::future::BoxFuture;
use kernel::WorkspaceId;

/// Shows that an answer is being made. Whether it can be shown changes nothing about the answer.
pub trait Activity: Debug + Send + Sync {
    fn begin<'a>(&'a self, workspace: WorkspaceId, chat_id: i64, action_id: &'a str) -> BoxFuture<'a, ()>;
    fn end<'a>(&'a self, workspace: WorkspaceId, action_id: &'a str, is_done: bool) -> BoxFuture<'a, ()>;
}

/// Shows nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoActivity;

impl Activity for NoActivity {
    fn begin<'a>(&'a self, _: WorkspaceId, _: i64, _: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn end<'a>(&'a self, _: WorkspaceId, _: &'a str, _: bool) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }
}
