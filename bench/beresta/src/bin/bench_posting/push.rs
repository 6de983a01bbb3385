//! The sender of posts: as many as possible, so many a second, or so many that a backlog stays.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use beresta_bench::{
    http::Http,
    times::{now_micros, spread},
};
use serde_json::{Value, json};
use sqlx::{PgConnection, Row};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

const PUSHERS: u64 = 8;
/// The text of every post, after its number: about 200 bytes altogether.
const TEXT: &str = "The tram across the river runs every seven minutes from Monday on, the last one leaves at half past one, \
                    and the stop at the market moves to the other side of the square.";

#[derive(Clone)]
pub(crate) struct Pusher {
    http: Http,
    push_url: String,
    secret: String,
    sink: String,
    /// Makes the posts of this run differ from those of every other.
    run: u64,
}

/// A sender in the background that keeps a workspace's backlog at one size.
pub(crate) struct Backlog {
    stop: CancellationToken,
    task: JoinHandle<Result<u64>>,
}

impl Backlog {
    /// How many deliveries were sent meanwhile.
    pub(crate) async fn stop(self) -> Result<u64> {
        self.stop.cancel();
        self.task.await?
    }
}

impl Pusher {
    pub(crate) fn new(http: Http, server: &str, workspace: &str, sink: &str) -> Self {
        let push_url = format!("{server}/hooks/push");
        Self { http, push_url, secret: workspace.to_owned(), sink: sink.to_owned(), run: now_micros() }
    }

    async fn push(&self, number: u64, mark: &str) -> Result<()> {
        let body = json!({"source_ref": format!("{}-{number}", self.run), "text": format!("Post {number} of {}{mark}. {TEXT}", self.run)});
        self.http.post(&self.push_url, ("x-beresta-secret", self.secret.as_str()), body.to_string()).await?;
        Ok(())
    }

    /// How many messages the sink has seen: without a time, and with one.
    async fn counts(&self) -> Result<(u64, u64)> {
        let counts: Value = serde_json::from_slice(&self.http.get(&format!("{}counts", self.sink)).await?)?;
        Ok((counts["plain"].as_u64().context("`plain`")?, counts["timed"].as_u64().context("`timed`")?))
    }

    /// Pushes posts as fast as they are accepted; over when every delivery is `sent` in the database.
    pub(crate) async fn burst(&self, db: &mut PgConnection, posts: u64, channels: u64) -> Result<Value> {
        let (before, _) = self.counts().await?;
        let started = Instant::now();
        let next = Arc::new(AtomicU64::new(0));
        let mut pushers = JoinSet::new();
        for _ in 0..PUSHERS {
            let (pusher, next) = (self.clone(), Arc::clone(&next));
            pushers.spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= posts {
                        return Ok::<_, anyhow::Error>(());
                    }
                    pusher.push(number, "").await?;
                }
            });
        }
        while let Some(result) = pushers.join_next().await {
            result??;
        }
        let pushed = started.elapsed();
        // The sink knows when it is time to ask the database, whose cores are busy.
        while self.counts().await?.0 - before < posts * channels {
            tokio::time::sleep(Duration::from_millis(5)).await;
            ensure!(started.elapsed() < Duration::from_mins(20), "the deliveries do not come to an end");
        }
        while self.is_any_under_way(db).await? {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let seconds = started.elapsed().as_secs_f64();
        Ok(json!({"seconds": seconds, "push_seconds": pushed.as_secs_f64(), "deliveries": posts * channels, "run": self.run}))
    }

    async fn is_any_under_way(&self, db: &mut PgConnection) -> Result<bool> {
        // Only what this run made: the question must not cost more the more there was before.
        let query = "select exists (select from core.workspaces w join posting.channels c using (workspace_id)
                                     cross join lateral (select from posting.deliveries d
                                                          where d.workspace_id = c.workspace_id and d.channel_id = c.channel_id
                                                            and d.phase = 'inflight' and d.created_at >= to_timestamp($2) limit 1) d
                                     where w.name = $1)";
        let since = self.run as f64 / 1e6;
        Ok(sqlx::query_scalar(query).bind(&self.secret).bind(since).fetch_one(db).await?)
    }

    /// Every post of a run was sent to every channel, once, and its three events are there.
    pub(crate) async fn check(db: &mut PgConnection, run: u64, posts: u64, channels: u64) -> Result<()> {
        let query = "select count(*), count(*) filter (where d.status = 'sent' and d.attempt = 1), coalesce(sum(e.n), 0)::bigint
                       from posting.messages m join posting.deliveries d using (workspace_id, message_id)
                       left join lateral (select count(*) as n from posting.events e
                                           where e.workspace_id = d.workspace_id and e.delivery_id = d.delivery_id) e on true
                      where m.source_ref like $1";
        let row = sqlx::query(query).bind(format!("{run}-%")).fetch_one(db).await?;
        let counts = [row.get::<i64, _>(0), row.get::<i64, _>(1), row.get::<i64, _>(2)];
        let wanted = i64::try_from(posts * channels)?;
        ensure!(
            counts == [wanted, wanted, wanted * 3],
            "deliveries, sent at once, events: {counts:?} instead of {wanted} and thrice that"
        );
        Ok(())
    }

    /// So many posts a second, evenly; how long each delivery took from the push to the sink.
    pub(crate) async fn steady(&self, rate: u64, seconds: u64, channels: u64) -> Result<Value> {
        let posts = rate * seconds;
        let latencies_url = format!("{}latencies", self.sink);
        self.http.get(&latencies_url).await?;
        let (_, before) = self.counts().await?;
        let mut pushes = JoinSet::new();
        let mut ticks = tokio::time::interval(Duration::from_secs(1) / u32::try_from(rate)?);
        for number in 0..posts {
            ticks.tick().await;
            let pusher = self.clone();
            pushes.spawn(async move { pusher.push(number, &format!(" pushed-at={}", now_micros())).await });
        }
        while let Some(result) = pushes.join_next().await {
            result??;
        }
        let deadline = Instant::now() + Duration::from_mins(2);
        while self.counts().await?.1 - before < posts * channels && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let text = self.http.get(&latencies_url).await?;
        let all: Vec<u64> = std::str::from_utf8(&text)?.lines().map(str::parse).collect::<Result<_, _>>()?;
        let deliveries = all.len();
        let mut found = spread(all);
        found["deliveries"] = json!(deliveries);
        found["expected"] = json!(posts * channels);
        Ok(found)
    }

    /// Pushes until that many deliveries wait, and from then on whenever some were sent.
    pub(crate) async fn keep_backlog(&self, deliveries: u64, channels: u64) -> Result<Backlog> {
        let stop = CancellationToken::new();
        let (first, _) = self.counts().await?;
        let mut pushed = 0;
        while (pushed - (self.counts().await?.0 - first).min(pushed)) < deliveries {
            self.push_some(&mut pushed, channels).await?;
        }
        let (pusher, stopped) = (self.clone(), stop.clone());
        let (before, _) = self.counts().await?;
        let task = tokio::spawn(async move {
            loop {
                let sent = pusher.counts().await?.0;
                if stopped.is_cancelled() {
                    return Ok(sent - before);
                }
                if pushed.saturating_sub(sent - first) < deliveries {
                    pusher.push_some(&mut pushed, channels).await?;
                } else {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        });
        Ok(Backlog { stop, task })
    }

    async fn push_some(&self, pushed: &mut u64, channels: u64) -> Result<()> {
        let first = *pushed / channels;
        let pushes = (first..first + PUSHERS).map(|number| {
            let pusher = self.clone();
            tokio::spawn(async move { pusher.push(number, "").await })
        });
        for push in pushes.collect::<Vec<_>>() {
            push.await??;
        }
        *pushed += PUSHERS * channels;
        Ok(())
    }
}
