//! The stops of the tour.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kernel::{WorkspaceId, new_id};
use platform::{
    bus,
    jobs::{self, NewJob},
    wake::Topic,
    workspaces,
};
use serde_json::{Value, json};

use super::{PATIENCE, Tour, TourReport, jobs::NOTE};

pub(super) async fn play(tour: &Tour, report: &mut TourReport) {
    report.section("The ground");
    report.check("the database is ready and durable", tour.database()).await;
    report.check("a workspace cannot see another one, whatever it asks", tour.tenancy()).await;
    report.check("a journal refuses to be rewritten", tour.append_only()).await;
    report.check("a stored object comes back as it was", tour.objects()).await;
    report.section("The door");
    report.check("a token opens its own workspace", tour.token()).await;
    report.check("a wrong token is refused with words that help", tour.wrong_token()).await;
    report.check("bad JSON is refused with words that help", tour.bad_json()).await;
    report.check("every answer carries its trace id", tour.trace()).await;
    report.section("Jobs");
    report.check("a thousand jobs run, each once", tour.thousand_jobs()).await;
    report.check("a job that fails comes back later and succeeds", tour.retried_job()).await;
    report.check("what is rolled back never runs", tour.rolled_back_job()).await;
    report.section("The bus");
    report.check("a watcher who comes back misses nothing", tour.bus_resume()).await;
    report.section("The simulated providers");
    report.check("Telegram takes a message", tour.telegram()).await;
    report.check("Telegram answers 429 when told to, once", tour.telegram_fault()).await;
    report.check("MAX takes a message", tour.max()).await;
}

impl Tour {
    fn demo(&self) -> WorkspaceId {
        self.credentials.workspace_id
    }

    async fn database(&self) -> Result<String> {
        let ready = self.expect("GET", &format!("{}/readyz", self.base), None, 200).await?;
        let (version, fsync): (String, String) =
            sqlx::query_as("select current_setting('server_version'), current_setting('fsync')")
                .fetch_one(self.app.db.pool())
                .await?;
        ensure!(fsync == "on", "fsync is {fsync}");
        Ok(format!(
            "PostgreSQL {version} answers in {:.1} ms, fsync is on",
            ready["data"]["database_ms"].as_f64().unwrap_or_default()
        ))
    }

    async fn tenancy(&self) -> Result<String> {
        let other = workspaces::create(self.app.db.pool(), "demo neighbour").await?;
        let mut tx = self.app.db.begin(self.demo()).await?;
        let seen: i64 = sqlx::query_scalar("select count(*) from core.workspaces").fetch_one(&mut *tx).await?;
        ensure!(seen == 1, "saw {seen} workspaces");
        let refused = sqlx::query("select ops.append_journal($1, 'demo', 'intruded')").bind(other.uuid()).execute(&mut *tx).await;
        ensure!(refused.is_err(), "wrote into the neighbour's journal");
        Ok("it saw itself alone, and writing next door was refused".into())
    }

    async fn append_only(&self) -> Result<String> {
        let refused = sqlx::query("update ops.journal set action = 'forged'").execute(self.app.db.pool()).await;
        let error = refused.err().context("the journal was rewritten")?;
        Ok(format!("“{}”", error.as_database_error().map_or("refused", |error| error.message())))
    }

    async fn objects(&self) -> Result<String> {
        let body = "береста".repeat(1000);
        self.app.objects.put(self.demo(), "tour/letter.txt", body.clone().into()).await?;
        let read = self.app.objects.get(self.demo(), "tour/letter.txt").await?;
        ensure!(read == body.as_bytes(), "it came back changed");
        self.app.objects.delete(self.demo(), "tour/letter.txt").await?;
        Ok(format!("{} bytes", body.len()))
    }

    async fn token(&self) -> Result<String> {
        let me = self.expect("GET", &format!("{}/api/me", self.base), None, 200).await?;
        ensure!(me["data"]["workspace"] == "demo", "{me}");
        Ok("workspace demo".into())
    }

    async fn wrong_token(&self) -> Result<String> {
        let request = self.client.request("GET".parse()?, &format!("{}/api/me", self.base)).bearer_auth("brs_wrong");
        let reply = self.client.send(request).await?;
        ensure!(reply.status == 401, "status {}", reply.status);
        Ok(format!("401 “{}”", message(&reply.json().unwrap_or_default())))
    }

    async fn bad_json(&self) -> Result<String> {
        let url = format!("{}/api/jobs/1/retry", self.base);
        let request = self.client.request("POST".parse()?, &url).bearer_auth(&self.credentials.token);
        let request = request.header("content-type", "application/json").body(r#"{"reason": "a", "reason": "b"}"#);
        let reply = self.client.send(request).await?;
        ensure!(reply.status == 400, "status {}", reply.status);
        Ok(format!("400 “{}”", message(&reply.json().unwrap_or_default())))
    }

    async fn trace(&self) -> Result<String> {
        let trace = new_id().simple().to_string();
        let request = self.client.request("GET".parse()?, &format!("{}/nowhere", self.base)).header("x-trace-id", &trace);
        let json = self.client.send(request).await?.json().unwrap_or_default();
        ensure!(json["meta"]["correlation"]["trace_id"] == trace.as_str(), "{json}");
        Ok(format!("also the 404 “{}”", message(&json)))
    }

    async fn enqueue(&self, jobs: Vec<NewJob>) -> Result<Vec<i64>> {
        let mut tx = self.app.db.begin(self.demo()).await?;
        let ids = jobs::enqueue_many(&mut tx, self.demo(), jobs, None).await?;
        tx.commit().await?;
        self.app.db.wake().tell(Topic::JOBS);
        Ok(ids)
    }

    /// Waits until every job has succeeded and returns how many notes they left.
    async fn notes_of(&self, ids: &[i64]) -> Result<i64> {
        let done = "select count(*) from ops.job_runs where workspace_id = $1 and job_id = any ($2) and outcome = 'succeeded'";
        let wanted = i64::try_from(ids.len())?;
        let waiting = async {
            loop {
                let n: i64 = sqlx::query_scalar(done).bind(self.demo().uuid()).bind(ids).fetch_one(self.app.db.pool()).await?;
                if n >= wanted {
                    return Ok::<_, anyhow::Error>(n);
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let succeeded = tokio::time::timeout(PATIENCE, waiting).await.context("they did not all run in time")??;
        ensure!(succeeded == wanted, "{succeeded} successes of {wanted} jobs");
        let notes = "select count(*) from ops.journal where workspace_id = $1 and source = 'demo' and (data->>'job_id')::bigint = any ($2)";
        Ok(sqlx::query_scalar(notes).bind(self.demo().uuid()).bind(ids).fetch_one(self.app.db.pool()).await?)
    }

    async fn thousand_jobs(&self) -> Result<String> {
        let ids = self.enqueue((0..1000).map(|n| NewJob::new(NOTE, json!({"n": n}))).collect()).await?;
        let notes = self.notes_of(&ids).await?;
        ensure!(notes == 1000, "{notes} notes of 1000 jobs");
        Ok("1000 jobs left 1000 notes".into())
    }

    async fn retried_job(&self) -> Result<String> {
        let ids = self.enqueue(vec![NewJob::new(NOTE, json!({"n": 1, "fail_until": 2}))]).await?;
        ensure!(self.notes_of(&ids).await? == 1, "it did not leave one note");
        let job = self.expect("GET", &format!("{}/api/jobs/{}", self.base, ids[0]), None, 200).await?;
        let outcomes: Vec<&str> =
            job["data"]["runs"].as_array().into_iter().flatten().rev().filter_map(|run| run["outcome"].as_str()).collect();
        ensure!(outcomes == ["retried", "retried", "succeeded"], "{outcomes:?}");
        Ok(outcomes.join(", "))
    }

    async fn rolled_back_job(&self) -> Result<String> {
        let mut tx = self.app.db.begin(self.demo()).await?;
        let id = jobs::enqueue(&mut tx, self.demo(), NewJob::new(NOTE, json!({"n": -1})), None).await?;
        tx.rollback().await?;
        self.expect("GET", &format!("{}/api/jobs/{id}", self.base), None, 404).await?;
        Ok("there is no such job".into())
    }

    async fn bus_resume(&self) -> Result<String> {
        let topic = format!("tour:{}", new_id());
        let publish = async |n: i32| -> Result<()> {
            let mut tx = self.app.db.begin(self.demo()).await?;
            bus::publish(&mut tx, self.demo(), &topic, &json!(n)).await?;
            tx.commit().await?;
            self.app.db.wake().tell(Topic::BUS);
            Ok(())
        };
        let mut watcher = self.app.bus.subscribe(self.demo(), &topic, None).await?;
        publish(1).await?;
        let seen = watcher.next().await?.context("dropped")?.position;
        drop(watcher);
        for n in 2..=100 {
            publish(n).await?;
        }
        let mut back = self.app.bus.subscribe(self.demo(), &topic, Some(seen)).await?;
        for n in 2..=100 {
            let heard = back.next().await?.context("dropped")?;
            ensure!(*heard.payload == *n.to_string(), "heard {} instead of {n}", heard.payload);
        }
        Ok("left after message 1, came back and heard 2 to 100".into())
    }

    async fn telegram(&self) -> Result<String> {
        let url = format!("{}/telegram/bot1000:demo-token/sendMessage", self.simulators);
        let sent = self
            .expect("POST", &url, Some(json!({"chat_id": -1_001_000, "text": "<b>Привет</b>", "parse_mode": "HTML"})), 200)
            .await?;
        ensure!(sent["result"]["text"] == "Привет", "{sent}");
        let listed =
            self.expect("GET", &format!("{}/control/sent?provider=telegram&target=-1001000", self.simulators), None, 200).await?;
        ensure!(!listed["sent"].as_array().is_none_or(Vec::is_empty), "{listed}");
        Ok(format!("message {} with its entities", sent["result"]["message_id"]))
    }

    async fn telegram_fault(&self) -> Result<String> {
        let fault = json!({"provider": "telegram", "target": "-1001001", "status": 429, "retry_after": 7, "times": 1});
        let queued = self.call("POST", &format!("{}/control/faults", self.simulators), Some(fault)).await?;
        ensure!(queued.status < 300, "the fault was not taken: {}", queued.status);
        let url = format!("{}/telegram/bot1000:demo-token/sendMessage", self.simulators);
        let body = json!({"chat_id": -1_001_001, "text": "hello"});
        let refused = self.expect("POST", &url, Some(body.clone()), 429).await?;
        ensure!(refused["parameters"]["retry_after"] == 7, "{refused}");
        self.expect("POST", &url, Some(body), 200).await?;
        Ok("retry_after 7, and the next call passed".into())
    }

    async fn max(&self) -> Result<String> {
        let url = format!("{}/max/messages?chat_id=-70801090403050", self.simulators);
        let request =
            self.client.request("POST".parse()?, &url).header("authorization", "demo-max-token").json(&json!({"text": "Привет"}));
        let reply = self.client.send(request).await?;
        let sent = reply.json().unwrap_or_default();
        ensure!(reply.status == 200, "status {}: {sent}", reply.status);
        Ok(format!("message {}", sent["message"]["body"]["mid"].as_str().unwrap_or("?")))
    }
}

fn message(envelope: &Value) -> &str {
    envelope["error"]["message"].as_str().unwrap_or("?")
}
