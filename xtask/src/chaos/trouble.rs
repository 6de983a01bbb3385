//! What goes wrong in a round: somebody is killed, stopped or cut off, chosen at random.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use anyhow::Result;

use super::{
    crew::{Part, kill_9},
    random::Random,
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
    /// Past its lease, and then for a random time or until its worst moment; one that has nothing under way is let go at once.
    StopWorker(Until),
    Nothing,
}

#[derive(Clone, Copy)]
enum Until {
    AnyTime,
    /// When another worker has just begun to send what this one was sending, and both will bring a success.
    WorstMoment,
}

const TROUBLES: [(u64, Trouble); 9] = [
    (36, Trouble::Kill(Part::Dispatcher)),
    (12, Trouble::Kill(Part::Api)),
    (4, Trouble::Kill(Part::Owner)),
    (6, Trouble::KillPostmaster),
    (4, Trouble::KillBackend),
    (14, Trouble::CutConnections),
    (6, Trouble::StopWorker(Until::AnyTime)),
    (8, Trouble::StopWorker(Until::WorstMoment)),
    (10, Trouble::Nothing),
];

/// One round: three troubles, then a breath; whatever was broken is given the time to come back. Every fifth round
/// begins with a worker that is stopped until its worst moment.
pub(super) async fn round(stage: &Arc<Stage>, number: u32, stopped: &mut Option<tokio::task::JoinHandle<()>>) -> Result<()> {
    // Of its own, so that a seed always brings the same troubles in the same order, whatever else is drawn meanwhile.
    let mut random = Random::seeded(stage.seed.wrapping_mul(1_000_003).wrapping_add(u64::from(number)));
    for n in 0..3 {
        let drawn = random.weighted(&TROUBLES).unwrap_or(Trouble::Nothing);
        let is_worst = stage.is_about_fences || n == 0 && number % 5 == 1;
        let trouble = if is_worst { Trouble::StopWorker(Until::WorstMoment) } else { drawn };
        make(stage, trouble, stopped).await?;
        tokio::time::sleep(random.millis(300, 1300)).await;
    }
    stage.database_is_back().await?;
    stage.read_log(|_| ());
    Ok(())
}

async fn make(stage: &Arc<Stage>, trouble: Trouble, stopped: &mut Option<tokio::task::JoinHandle<()>>) -> Result<()> {
    if matches!(trouble, Trouble::Kill(Part::Api | Part::Owner) | Trouble::KillPostmaster | Trouble::KillBackend) {
        // In the middle of a few requests that are just being accepted.
        stage.urgent.add_permits(2);
        tokio::time::sleep(stage.draw(|random| random.millis(0, 25))).await;
    }
    match trouble {
        Trouble::Kill(part) => {
            let alive = stage.crew.running(part);
            if let Some(pid) = stage.draw(|random| random.pick(&alive)) {
                kill_9(pid);
            }
        }
        Trouble::KillPostmaster => {
            // Only one that is up: killing a recovery again and again proves little and takes long.
            if sqlx::query("select 1").execute(&stage.db).await.is_ok()
                && let Some(pid) = stage.postmaster()
            {
                kill_9(pid);
                stage.crew.count("postmaster");
            }
        }
        Trouble::KillBackend => {
            let pids = backends(stage).await;
            if let Some(pid) = stage.draw(|random| random.pick(&pids)) {
                kill_9(pid);
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
        Trouble::StopWorker(until) => {
            let mut running = stage.crew.running(Part::Dispatcher);
            // One at a time, and never the last one that works.
            if stopped.as_ref().is_none_or(tokio::task::JoinHandle::is_finished) && running.len() > 1 {
                let first = stage.draw(|random| random.below(running.len()));
                running.rotate_left(first);
                *stopped = Some(match until {
                    Until::AnyTime => tokio::spawn(stop(Arc::clone(stage), running[0])),
                    Until::WorstMoment => tokio::spawn(stop_until_worst(Arc::clone(stage), running)),
                });
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

/// Stops a worker for longer than its lease and lets it go on.
async fn stop(stage: Arc<Stage>, pid: i32) {
    let from = now_ms();
    if stage.crew.stop(pid) {
        tokio::time::sleep(stage.draw(|random| random.millis(PAST_THE_LEASE.0, PAST_THE_LEASE.1))).await;
        stage.note_stop(from, now_ms());
        stage.crew.resume(pid);
    }
}

/// Stops one worker after the other until one of them was let go in its worst moment.
async fn stop_until_worst(stage: Arc<Stage>, pids: Vec<i32>) {
    for pid in pids {
        // So that it has something under way whose good answer it will find when it wakes up.
        let _ = stage.slow_down(700).await;
        tokio::time::sleep(stage.draw(|random| random.millis(200, 600))).await;
        let from = now_ms();
        let mut is_worst = false;
        if stage.crew.stop(pid) {
            tokio::time::sleep(Duration::from_millis(1_100)).await;
            let has_work = !held(&stage, 0.9).await.is_empty();
            let _ = stage.unleash_faults().await;
            if has_work {
                is_worst = tokio::time::timeout(WORST_MOMENT_MAX, worst_moment(&stage)).await.unwrap_or(false);
            }
            stage.note_stop(from, now_ms());
            stage.crew.resume(pid);
        }
        let _ = stage.unleash_faults().await;
        if is_worst {
            stage.worst_moments.fetch_add(1, Ordering::Relaxed);
            return;
        }
    }
}

/// Waits for it; false when the stopped worker held nothing.
async fn worst_moment(stage: &Stage) -> bool {
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let (ids, attempts): (Vec<String>, Vec<i32>) = held(stage, 2.4).await.into_iter().unzip();
    // Slow answers to whoever takes over, so that the second attempt is still under way when the first one's worker wakes up.
    if ids.is_empty() || stage.slow_down(1_500).await.is_err() {
        return false;
    }
    let query = stage.subject.taken_over;
    while !sqlx::query_scalar(query).bind(&ids).bind(&attempts).fetch_one(&stage.db).await.unwrap_or(false) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The other one has begun; let its call reach the simulator.
    tokio::time::sleep(stage.draw(|random| random.millis(50, 400))).await;
    true
}

/// What has been in sending for so many seconds: longer than nearly anybody takes who runs, so these are the stopped one's.
async fn held(stage: &Stage, seconds: f64) -> Vec<(String, i32)> {
    sqlx::query_as(stage.subject.held).bind(seconds).fetch_all(&stage.db).await.unwrap_or_default()
}
