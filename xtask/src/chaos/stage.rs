//! The stage of a run: a simulator, a PostgreSQL of its own with the processes on it, and what the harness knows about them.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    str::FromStr,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicI64, AtomicU32},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use sqlx::{
    AssertSqlSafe, Executor, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use tokio::sync::Semaphore;

use super::{
    crew::{Crew, Part},
    log::ServerLog,
    random::Random,
    subject::Subject,
};

/// Calls that succeed, but late: shorter than the lease, so that only who is stopped or killed outlives it.
const DELAYS: [(f64, &str); 2] = [(0.15, r#"{"delay_ms": 250}"#), (0.05, r#"{"delay_ms": 1200}"#)];

pub(super) struct Stage {
    pub(super) subject: &'static Subject,
    pub(super) dir: PathBuf,
    pub(super) seed: u64,
    pub(super) crew: Crew,
    pub(super) db: PgPool,
    /// For those who bring work: an answer that does not come is asked for again.
    pub(super) http: reqwest::Client,
    /// For the simulator, which is never killed and may be busy.
    control: reqwest::Client,
    url: String,
    simulator: String,
    random: Mutex<Random>,
    log: Mutex<ServerLog>,
    /// When a process was stopped and when it could go on.
    stops: Mutex<Vec<(i64, i64)>>,
    /// How much is under way, as last seen: whoever brings work does not go far ahead of the dispatchers.
    pub(super) inflight: AtomicI64,
    /// How often a stopped worker woke up just when another had begun with what it held.
    pub(super) worst_moments: AtomicU32,
    /// Requests that are to be sent at once, however much is under way: somebody is about to be killed in the middle of them.
    pub(super) urgent: Semaphore,
    pub(super) is_pushing: AtomicBool,
    pub(super) is_over: AtomicBool,
    /// Only workers that outlive their lease put a fence to the test; every other trouble would end them before.
    pub(super) is_about_fences: bool,
}

impl Stage {
    /// The simulator, PostgreSQL and its owner, with the workspace made; nobody works yet.
    pub(super) async fn open(subject: &'static Subject, program: &Path, dir: &Path, seed: u64) -> Result<Self> {
        // The user that runs PostgreSQL has to pass through.
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755))?;
        // reqwest and sqlx are built without a default of their own.
        drop(rustls::crypto::ring::default_provider().install_default());
        let crew = Crew::new(subject, program, dir, seed)?;
        crew.add(Part::Simulator, "simulator", &["simulate", "--listen", "127.0.0.1:0"])?;
        let simulator = crew.serving("simulator").await?;
        for (name, value) in [
            ("BERESTA_TELEGRAM_BASE_URL", format!("{simulator}/telegram")),
            ("BERESTA_MAX_BASE_URL", format!("{simulator}/max")),
            ("CHAOS_TELEGRAM_TOKEN", "1000002:AAchaos-token-for-the-simulator-only".to_owned()),
            ("CHAOS_MAX_TOKEN", "chaos-token-for-the-simulator-only".to_owned()),
            // Six processes and the backends of killed ones share a hundred connections.
            ("BERESTA_DATABASE_CONNECTIONS_MAX", "8".to_owned()),
        ] {
            crew.set_env(name, &value);
        }
        for (name, value) in (subject.settings)(&simulator, dir) {
            crew.set_env(name, &value);
        }
        let data = dir.join("data").to_string_lossy().into_owned();
        crew.add(Part::Owner, "owner", &["serve", "--listen", "127.0.0.1:0", "--roles", "api", "--data-dir", &data])?;
        crew.serving("owner").await?;
        let asked = crew.command().args(["database", "url", "--data-dir", &data]).output()?;
        ensure!(asked.status.success(), "no database: {}", String::from_utf8_lossy(&asked.stderr));
        let url = String::from_utf8(asked.stdout)?.trim().to_owned();
        let options = PgConnectOptions::from_str(&url)?.application_name("chaos");
        let db = PgPoolOptions::new().max_connections(6).acquire_timeout(Duration::from_secs(2)).connect_lazy_with(options);
        let stage = Self {
            subject,
            log: Mutex::new(ServerLog::new(&dir.join("data/postgres/postgres.log"), subject.refusals)),
            dir: dir.to_owned(),
            seed,
            crew,
            db,
            http: reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(5)).build()?,
            control: reqwest::Client::builder().no_proxy().timeout(Duration::from_mins(2)).build()?,
            url,
            simulator,
            random: Mutex::new(Random::seeded(seed)),
            stops: Mutex::default(),
            inflight: AtomicI64::new(0),
            worst_moments: AtomicU32::new(0),
            urgent: Semaphore::new(0),
            is_pushing: AtomicBool::new(true),
            is_over: AtomicBool::new(false),
            is_about_fences: false,
        };
        stage.database_is_back().await?;
        stage.db.execute(AssertSqlSafe((subject.setup)())).await.context("the workspace cannot be made")?;
        Ok(stage)
    }

    pub(super) async fn add_workers(&self, dispatchers: u32) -> Result<()> {
        let serve = |name: &str, part, roles: &str| {
            let objects = self.dir.join(format!("data-{name}")).to_string_lossy().into_owned();
            let args =
                ["serve", "--listen", "127.0.0.1:0", "--roles", roles, "--database-url", &self.url, "--data-dir", &objects];
            self.crew.add(part, name, &args)
        };
        let apis: Vec<String> =
            (1..=self.subject.apis).map(|n| if n == 1 { "api".to_owned() } else { format!("api-{n}") }).collect();
        for name in &apis {
            serve(name, Part::Api, "api")?;
        }
        let dispatchers: Vec<String> = (1..=dispatchers).map(|n| format!("dispatcher-{n}")).collect();
        for name in &dispatchers {
            serve(name, Part::Dispatcher, self.subject.worker_roles)?;
        }
        // Trouble begins when everybody is there; a slow start would eat up the first round.
        for name in apis.iter().chain(&dispatchers) {
            self.crew.serving(name).await?;
        }
        Ok(())
    }

    /// Lets those go who are still there: the owner's watchdog stops PostgreSQL, and when it is down the directory can go.
    pub(super) async fn close(&self) {
        self.db.close().await;
        self.crew.finish(Part::Api);
        self.crew.finish(Part::Owner);
        for _ in 0..200 {
            if self.postmaster().is_none() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// From now on the simulator fails calls as often as the subject says, and is slow in some others.
    pub(super) async fn unleash_faults(&self) -> Result<()> {
        self.end_faults().await?;
        for provider in self.subject.providers {
            let mut left = 1.0;
            for (share, fault) in self.subject.failures.iter().chain(&DELAYS) {
                let mut fault: Value = serde_json::from_str(fault)?;
                fault["provider"] = json!(provider);
                // The first fault of the queue that strikes is taken: each gets its share of what the ones before it left.
                fault["rate"] = json!(share / left);
                fault["seed"] = json!(self.draw(|random| random.next() >> 12));
                left -= share;
                self.add_fault(&fault).await?;
            }
        }
        Ok(())
    }

    /// Until faults are unleashed again, every call succeeds, but only after a while.
    pub(super) async fn slow_down(&self, delay_ms: u64) -> Result<()> {
        self.end_faults().await?;
        for provider in self.subject.providers {
            self.add_fault(&json!({"provider": provider, "delay_ms": delay_ms, "rate": 1.0})).await?;
        }
        Ok(())
    }

    /// The address of a page of the simulated web site, which answers like this from now on.
    pub(super) async fn set_page(&self, path: &str, mut page: Value) -> Result<()> {
        page["path"] = json!(path);
        self.control.post(format!("{}/control/pages", self.simulator)).json(&page).send().await?.error_for_status()?;
        Ok(())
    }

    pub(super) fn page_url(&self, path: &str) -> String {
        format!("{}/web/{path}", self.simulator)
    }

    /// The vectors that the simulated OpenAI makes of these texts.
    pub(super) async fn vectors(&self, texts: &[String]) -> Result<Vec<Vec<f64>>> {
        let body = json!({"model": "text-embedding-3-small", "dimensions": 1536, "input": texts});
        let request = self.control.post(format!("{}/openai/v1/embeddings", self.simulator)).bearer_auth("chaos").json(&body);
        let mut answer: Value = request.send().await?.error_for_status()?.json().await?;
        let Value::Array(items) = answer["data"].take() else { anyhow::bail!("no vectors: {answer}") };
        items.into_iter().map(|mut item| Ok(serde_json::from_value(item["embedding"].take())?)).collect()
    }

    async fn add_fault(&self, fault: &Value) -> Result<()> {
        self.control.post(format!("{}/control/faults", self.simulator)).json(fault).send().await?.error_for_status()?;
        Ok(())
    }

    pub(super) async fn end_faults(&self) -> Result<()> {
        self.control.delete(format!("{}/control/faults", self.simulator)).send().await?.error_for_status()?;
        Ok(())
    }

    /// All entries of a ledger of the simulator, page by page.
    pub(super) async fn simulator_ledger(&self, name: &str) -> Result<Vec<Value>> {
        let (mut entries, mut after) = (Vec::new(), 0);
        loop {
            let url = format!("{}/control/{name}?after={after}&limit=10000", self.simulator);
            let mut page: Value = self.control.get(url).send().await?.error_for_status()?.json().await?;
            if let Value::Array(found) = page[name].take() {
                entries.extend(found);
            }
            after = page["next"].as_u64().context("a place in the ledger")?;
            if page["more"] != true {
                return Ok(entries);
            }
        }
    }

    pub(super) fn draw<T>(&self, choose: impl FnOnce(&mut Random) -> T) -> T {
        choose(&mut self.random.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn note_stop(&self, from: i64, to: i64) {
        self.stops.lock().unwrap_or_else(PoisonError::into_inner).push((from, to));
    }

    pub(super) fn stops(&self) -> Vec<(i64, i64)> {
        self.stops.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads on in the log of PostgreSQL; it is cut when it grows long, so it is read often.
    pub(super) fn read_log<T>(&self, look: impl FnOnce(&ServerLog) -> T) -> T {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.read_on();
        look(&log)
    }

    pub(super) fn postmaster(&self) -> Option<i32> {
        let text = std::fs::read_to_string(self.dir.join("data/postgres/data/postmaster.pid")).ok()?;
        text.lines().next()?.trim().parse().ok().filter(|pid| *pid > 1)
    }

    /// Waits until the database answers again.
    pub(super) async fn database_is_back(&self) -> Result<()> {
        // Recovery after a kill takes long on a machine that has other things to do.
        for _ in 0..600 {
            if sqlx::query("select 1").execute(&self.db).await.is_ok() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        anyhow::bail!("PostgreSQL did not come back; see {}", self.dir.display())
    }
}

/// Milliseconds since the epoch, on the clock that the simulator and PostgreSQL have too.
pub(super) fn now_ms() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
}
