//! An apply as its caller watches it: progress for whoever asked for it, and the word that the caller has gone away.

use std::{pin::pin, time::Duration};

use futures::future::BoxFuture;
use platform::DbError;
use rmcp::{
    RoleServer,
    model::{JsonObject, ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::engine::{Applied, Caller, Planner, Watch};

/// What is left to be told after the work is done; a connection that is closing takes nothing any more, and does not say so.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Applies, and sends one notification for each action that is done. All of them are on their way before this returns, because
/// a notification that comes after the result belongs to nothing.
pub(super) async fn apply(
    planner: &Planner,
    caller: &Caller,
    arguments: &JsonObject,
    context: &RequestContext<RoleServer>,
) -> Result<Applied, DbError> {
    let ct = context.ct.clone();
    let Some(token) = context.meta.get_progress_token() else {
        return planner.apply(caller, arguments, &Watching { ct, told: None }).await;
    };
    // At most as many as a batch has actions, so it needs no bound of its own; and the engine must never wait for a slow reader.
    let (steps, mut heard) = unbounded_channel();
    let watching = Watching { ct, told: Some((token, steps)) };
    let work = async move {
        let applied = planner.apply(caller, arguments, &watching).await;
        drop(watching);
        applied
    };
    let tell = async {
        while let Some(step) = heard.recv().await {
            // Whoever does not listen any more is not told the rest.
            if context.peer.notify_progress(step).await.is_err() {
                break;
            }
        }
    };
    let (mut work, mut tell) = (pin!(work), pin!(tell));
    let applied = tokio::select! {
        applied = &mut work => applied,
        // Nobody listens any more; whether that cancels the work is said elsewhere.
        () = &mut tell => return work.await,
    };
    let _ = tokio::time::timeout(LAST_WORDS, tell).await;
    applied
}

struct Watching {
    ct: CancellationToken,
    told: Option<(ProgressToken, UnboundedSender<ProgressNotificationParam>)>,
}

impl Watch for Watching {
    fn progress(&self, done: usize, total: usize, message: &str) {
        if let Some((token, steps)) = &self.told {
            let step =
                ProgressNotificationParam::new(token.clone(), number(done)).with_total(number(total)).with_message(message);
            let _ = steps.send(step);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.ct.is_cancelled()
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.ct.cancelled())
    }
}

fn number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}
