//! What goes wrong in a round: somebody is killed, stopped or cut off, chosen at random.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use serde_json::json;

use super::{
    channels::CHANNELS,
    crew::Part,
    stage::{Stage, now_ms},
};

/// The lease of a send is three seconds: whoever is stopped for longer has lost it.
const PAST_THE_LEASE: (u64, u64) = (3_500, 9_000);
/// A worker that waits for its worst moment is let go after this long.
const WORST_MOMENT_MAX: Duration = Duration::from_secs(16);

#[derive(Clone, Copy)]
enum Trouble {
    Kill(Part),
    /// `kill -9` of the postmaster: every backend goes with it.
    KillPostmaster,
    /// `kill -9` of one backend: the postmaster ends all others and recovers.
    KillBackend,
    CutConnections,
    StopWorker,
    Nothing,
}

const TROUBLES: [(u64, Trouble); 8] = [
    (36, Trouble::Kill(Part::Dispatcher)),
    (12, Trouble::Kill(Part::Api)),
    (4, Trouble::Kill(Part::Owner)),
    (6, Trouble::KillPostmaster),
    (4, Trouble::KillBackend),
    (14, Trouble::CutConnections),
    (14, Trouble::StopWorker),
    (10, Trouble::Nothing),
];

/// One round: three troubles, then a breath; whatever was broken is given the time to come back.
pub(super) async fn round(stage: &Arc<Stage>, stopped: &mut Option<tokio::task::JoinHandle<()>>) -> Result<()> {
    for _ in 0..3 {
        let trouble = stage.draw(|random| random.weighted(&TROUBLES)).unwrap_or(Trouble::Nothing);
        make(stage, trouble, stopped).await?;
        tokio::time::sleep(stage.draw(|random| random.millis(300, 1300))).await;
    }
    stage.database_is_back().await?;
    stage.read_log(|_| ());
    Ok(())
}

async fn make(stage: &Arc<Stage>, trouble: Trouble, stopped: &mut Option<tokio::task::JoinHandle<()>>) -> Result<()> {
    if matches!(trouble, Trouble::Kill(Part::Api | Part::Owner) | Trouble::KillPostmaster | Trouble::KillBackend) {
        // In the middle of a few posts that are just being accepted.
        stage.urgent.add_permits(2);
        tokio::time::sleep(stage.draw(|random| random.millis(0, 25))).await;
    }
    match trouble {
        Trouble::Kill(part) => {
            let alive = stage.crew.running(part);
            if let Some(pid) = stage.draw(|random| random.pick(&alive)) {
                stage.crew.kill(pid);
            }
        }
        Trouble::KillPostmaster => {
            // Only one that is up: killing a recovery again and again proves little and takes long.
            if sqlx::query("select 1").execute(&stage.db).await.is_ok()
                && let Some(pid) = stage.postmaster()
            {
                stage.crew.kill(pid);
                stage.crew.count("postmaster");
            }
        }
        Trouble::KillBackend => {
            let pids = backends(stage).await;
            if let Some(pid) = stage.draw(|random| random.pick(&pids)) {
                stage.crew.kill(pid);
                stage.crew.count("backend");
            }
        }
        Trouble::CutConnections => {
            for pid in backends(stage).await {
                if stage.draw(|random| random.one_in(3)) {
                    let _ = sqlx::query("select pg_terminate_backend($1)").bind(pid).execute(&stage.db).await;
                }
            }
        }
        Trouble::StopWorker => {
            let running = stage.crew.running(Part::Dispatcher);
            // One at a time, and never the last one that works.
            if stopped.as_ref().is_none_or(tokio::task::JoinHandle::is_finished)
                && running.len() > 1
                && let Some(pid) = stage.draw(|random| random.pick(&running))
            {
                *stopped = Some(tokio::spawn(stop(Arc::clone(stage), pid)));
            }
        }
        Trouble::Nothing => {}
    }
    Ok(())
}

/// The connections of the program; ours are not among them.
async fn backends(stage: &Stage) -> Vec<i32> {
    let query = "select pid from pg_stat_activity where application_name = 'beresta' and backend_type = 'client backend'";
    sqlx::query_scalar(query).fetch_all(&stage.db).await.unwrap_or_default()
}

/// Stops a worker past its lease. Half of them go on at a random time, half at the worst one: when another worker has just begun
/// to send what this one was sending.
pub(super) async fn stop(stage: Arc<Stage>, pid: i32) {
    let from = now_ms();
    if !stage.crew.stop(pid) {
        return;
    }
    if stage.draw(|random| random.one_in(2)) {
        tokio::time::sleep(stage.draw(|random| random.millis(PAST_THE_LEASE.0, PAST_THE_LEASE.1))).await;
    } else {
        let _ = tokio::time::timeout(WORST_MOMENT_MAX, worst_moment(&stage)).await;
    }
    stage.note_stop(from, now_ms());
    stage.crew.resume(pid);
}

async fn worst_moment(stage: &Stage) {
    tokio::time::sleep(Duration::from_millis(2_600)).await;
    // Nobody who runs sends for this long, so these are the stopped one's.
    let query = "select delivery_id::text, channel_id from posting.deliveries
                  where phase = 'inflight' and status = 'sending' and sending_started_at < now() - interval '2.4 seconds'";
    let held: Vec<(String, String)> = sqlx::query_as(query).fetch_all(&stage.db).await.unwrap_or_default();
    let ids: Vec<String> = held.iter().map(|(id, _)| id.clone()).collect();
    for channel in CHANNELS.iter().filter(|channel| held.iter().any(|(_, id)| id == channel.id)) {
        // A slow answer, so that the second attempt is still under way when the first one's worker wakes up.
        let fault = json!({"provider": channel.platform, "target": channel.target, "delay_ms": 1500, "times": 2});
        let _ = stage.add_fault(&fault).await;
    }
    let query = "select exists (select from posting.deliveries d where d.delivery_id = any ($1::uuid[]) and d.status = 'sending'
                                   and d.attempt > 1 and d.sending_started_at > now() - interval '2 seconds')";
    while !ids.is_empty() {
        if sqlx::query_scalar(query).bind(&ids).fetch_one(&stage.db).await.unwrap_or(false) {
            // The other one has begun; let its call reach the simulator.
            tokio::time::sleep(stage.draw(|random| random.millis(50, 400))).await;
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
