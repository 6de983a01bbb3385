//! The tour of `beresta demo`: each stop does something real and checks that it holds.

mod actions;
pub(crate) mod jobs;
mod knowledge;
mod planner;
mod posting;
mod shopbot;
mod stops;

use std::time::{Duration, Instant};

use anyhow::Result;
use outbound::{Client, Reply};
use platform::http::App;
use serde_json::Value;

use crate::{seed::SeedCredentials, server::Server};

/// What a stop waits for takes a moment; on a machine that is busy with other things, longer.
const PATIENCE: Duration = Duration::from_mins(2);

/// A guest with everything a tour needs: the server from inside and from outside.
pub(crate) struct Tour {
    app: App,
    credentials: SeedCredentials,
    base: String,
    simulators: String,
    client: Client,
}

impl Tour {
    pub(crate) fn new(server: &Server, credentials: SeedCredentials, simulators: String) -> Result<Self> {
        Ok(Self {
            app: server.app.clone(),
            credentials,
            base: format!("http://{}", server.address),
            simulators,
            client: Client::new(&outbound::ClientSettings::default())?,
        })
    }

    /// Plays every stop and says whether all checks passed.
    pub(crate) async fn play(&self) -> bool {
        let started = Instant::now();
        let mut report = TourReport::default();
        stops::play(self, &mut report).await;
        posting::play(self, &mut report).await;
        shopbot::play(self, &mut report).await;
        actions::play(self, &mut report).await;
        planner::play(self, &mut report).await;
        knowledge::play(self, &mut report).await;
        let TourReport { passed, failed } = report;
        println!("\n{passed} checks passed, {failed} failed, in {:.1} s.", started.elapsed().as_secs_f64());
        failed == 0
    }

    async fn call(&self, method: &str, url: &str, body: Option<Value>) -> Result<Reply> {
        let mut request = self.client.request(method.parse()?, url);
        if url.starts_with(&self.base) {
            request = request.bearer_auth(&self.credentials.token);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        Ok(self.client.send(request).await?)
    }

    /// A call that must answer with this status; returns its JSON.
    async fn expect(&self, method: &str, url: &str, body: Option<Value>, status: u16) -> Result<Value> {
        let reply = self.call(method, url, body).await?;
        let json = reply.json().unwrap_or_default();
        anyhow::ensure!(reply.status == status, "{method} answered {} instead of {status}: {json}", reply.status);
        Ok(json)
    }
}

/// Counts and prints the checks.
#[derive(Default)]
struct TourReport {
    passed: usize,
    failed: usize,
}

impl TourReport {
    fn section(&self, title: &str) {
        println!("{}{title}", if self.passed + self.failed > 0 { "\n" } else { "" });
    }

    /// A check is a piece of work that either fails or says in words what it saw.
    async fn check(&mut self, claim: &str, work: impl Future<Output = Result<String>>) {
        let started = Instant::now();
        let result = work.await;
        let elapsed = started.elapsed().as_millis();
        match result {
            Ok(seen) => {
                self.passed += 1;
                println!("  ✓ {claim} — {seen} ({elapsed} ms)");
            }
            Err(error) => {
                self.failed += 1;
                println!("  ✗ {claim} — {error:#} ({elapsed} ms)");
            }
        }
    }
}
