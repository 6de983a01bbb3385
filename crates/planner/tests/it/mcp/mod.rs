//! The planner through MCP, on a real socket and a real PostgreSQL: every row of the specification's tables and every edge case of it, in
//! both eras of the protocol.

pub(crate) mod client;
pub(crate) mod stage;

mod atomicity;
mod cancellation;
mod crowd;
mod doors;
mod edge_cases;
mod errors;
mod idempotency;
mod opening;
mod ordering;
mod other_tools;
mod protocol;
mod request_log;
mod stdio;

use client::{Client, Era};
use stage::Stage;
pub(crate) use testkit::{PATIENCE, until};

/// The same story in both eras, each on a stage of its own.
async fn in_both_eras(story: impl AsyncFn(Stage, Client)) {
    for era in Era::BOTH {
        let stage = Stage::new().await;
        let client = Client::open(&stage, era).await;
        story(stage, client).await;
    }
}
