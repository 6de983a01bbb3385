//! Two workspaces with a delivery in every state, and what changed when somebody did something to them.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use kernel::{Clock, WorkspaceId};
use serde_json::{Map, Value, json};
use sqlx::{AssertSqlSafe, Executor, PgConnection, Row};
use testkit::TestDb;
use uuid::Uuid;

/// Every row of posting, under a name that does not change.
const ROWS: &str = "
    select 'delivery ' || delivery_id as name, to_jsonb(t) as row_of from posting.deliveries t
    union all select 'channel ' || channel_id || ' of ' || workspace_id, to_jsonb(t) from posting.channels t
    union all select 'auth ' || channel_id || ' of ' || workspace_id, to_jsonb(t) from posting.channel_auth t
    union all select 'credential ' || auth_ref || ' of ' || workspace_id, to_jsonb(t) from posting.credential_bindings t
    union all select 'counter ' || channel_id || ' of ' || workspace_id, to_jsonb(t) from posting.channel_counters t
    union all select 'limit ' || platform || rate_group || ' of ' || workspace_id, to_jsonb(t) from posting.platform_limits t
    union all select 'policy of ' || workspace_id, to_jsonb(t) from posting.policies t
    union all select 'message ' || message_id, to_jsonb(t) from posting.messages t
    union all select 'event ' || id, to_jsonb(t) from posting.events t";

pub(crate) struct Stage {
    pub(crate) test: TestDb,
    pub(crate) ours: WorkspaceId,
    pub(crate) theirs: WorkspaceId,
    pub(crate) owner: PgConnection,
    posts: u32,
}

/// What a delivery is brought to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    Queued,
    Claimed,
    Sending,
    Sent,
    Retry,
    Dead,
    Failed,
    /// Failed because of its channel, which is paused by that.
    FailedByChannel,
    /// Held, because nobody knows whether it arrived.
    Held,
}

pub(crate) type Rows = BTreeMap<String, Value>;

/// What is different now. Rows of a journal are only ever added.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Of each row that was there before, the fields with their new values.
    pub(crate) updated: BTreeMap<String, Map<String, Value>>,
    pub(crate) added: Vec<Value>,
}

impl Stage {
    /// Each workspace has the channels `a` and `b` in the group `bot` and `c` in the group `spare`; a post goes to one of them.
    pub(crate) async fn new(clock: Clock) -> Self {
        let test = TestDb::with(&[platform::SQL, posting::SQL], clock).await;
        let (ours, theirs) = (test.workspace("ours").await, test.workspace("theirs").await);
        let owner = test.owner().await;
        let mut stage = Self { test, ours, theirs, owner, posts: 0 };
        stage.now(0).await;
        for workspace in [ours, theirs] {
            for (channel, target, group) in [("a", -1001, "bot"), ("b", -1002, "bot"), ("c", -1003, "spare")] {
                stage
                    .run(&format!(
                        "insert into posting.channels (workspace_id, channel_id, platform, target_id, auth_ref, rate_group, rate_rps,
                                                       max_parallel, route_filter)
                         values ('{workspace}', '{channel}', 'telegram', '{target}', 'old-bot', '{group}', null, 100,
                                 '{{\"include_any\": [\"{channel}\"]}}')"
                    ))
                    .await;
            }
            for auth_ref in ["old-bot", "new-bot"] {
                stage
                    .run(&format!(
                        "insert into posting.credential_bindings (workspace_id, auth_ref, platform, secret_ref)
                         values ('{workspace}', '{auth_ref}', 'telegram', 'env:NOWHERE')"
                    ))
                    .await;
            }
        }
        stage
    }

    /// What the stage's own statements take for now: so many seconds from the clock's time.
    pub(crate) async fn now(&mut self, seconds: i64) {
        let at = self.test.clock.now() + SignedDuration::from_secs(seconds);
        self.run(&format!("select set_config('platform.now', '{at}', false)")).await;
    }

    pub(crate) async fn run(&mut self, statement: &str) {
        self.owner.execute(AssertSqlSafe(statement.to_owned())).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
    }

    pub(crate) async fn one<T>(&mut self, expression: &str) -> T
    where
        T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres> + Send + Unpin,
    {
        let query = format!("select {expression}");
        sqlx::query_scalar(AssertSqlSafe(query))
            .fetch_one(&mut self.owner)
            .await
            .unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    /// Makes a delivery and brings it to a state, so many minutes ago. Those that stay queued come last: a claim takes them.
    pub(crate) async fn deliver(&mut self, workspace: WorkspaceId, channel: &str, to: To, minutes_ago: i64) -> Uuid {
        self.now(-60 * minutes_ago).await;
        self.posts += 1;
        let post = json!({ "text": format!("post {}", self.posts), "tags": [channel] });
        let answer: Value =
            self.one(&format!("posting.enqueue_messages_and_deliveries('{workspace}', null, 'push', '{post}', null)")).await;
        let message = answer["message_id"].as_str().unwrap();
        let id: Uuid = self.one(&format!("delivery_id from posting.deliveries where message_id = '{message}'")).await;
        if to != To::Queued {
            self.run(&format!("select posting.claim_deliveries('{workspace}', 'run-{id}', 100)")).await;
        }
        if !matches!(to, To::Queued | To::Claimed) {
            self.run(&format!("select posting.start_sending('{workspace}', 'run-{id}', 100)")).await;
        }
        let attempts_max = if to == To::Dead { 1 } else { 5 };
        self.run(&format!("update posting.policies set attempts_max = {attempts_max} where workspace_id = '{workspace}'")).await;
        let key = format!("'{workspace}', '{id}'");
        let error = |scope: &str| format!(r#"'{{"scope": "{scope}", "code": "400", "message": "no such chat"}}'"#);
        let unknown = r#"'{"code": "timeout", "outcome_unknown": true}'"#;
        let end = match to {
            To::Queued | To::Claimed | To::Sending => None,
            To::Sent => Some(format!("select posting.mark_sent({key}, 'm-1')")),
            To::Retry => {
                Some(format!("select posting.schedule_retry({key}, platform.now() + interval '1 day', {})", error("delivery")))
            }
            To::Dead => Some(format!("select posting.schedule_retry({key}, null, {})", error("delivery"))),
            To::Failed => Some(format!("select posting.fail_permanent({key}, {})", error("delivery"))),
            To::FailedByChannel => Some(format!("select posting.fail_permanent({key}, {})", error("channel"))),
            To::Held => Some(format!(
                "update posting.channels set settings = '{{\"on_unknown\": \"hold\"}}' where workspace_id = '{workspace}' and channel_id = '{channel}';
                 select posting.schedule_retry({key}, null, {unknown})"
            )),
        };
        if let Some(end) = end {
            self.run(&end).await;
        }
        self.now(0).await;
        id
    }

    /// Runs a delivery once more, as a dispatcher would; which were started, with the credential and the attempt of each.
    pub(crate) async fn start(&mut self, workspace: WorkspaceId) -> Vec<(Uuid, String, i32)> {
        self.run(&format!("select posting.claim_deliveries('{workspace}', 'again', 100)")).await;
        let query = format!("select delivery_id, auth_ref, attempt from posting.start_sending('{workspace}', 'again', 100)");
        sqlx::query_as(AssertSqlSafe(query)).fetch_all(&mut self.owner).await.unwrap()
    }

    pub(crate) async fn rows(&mut self) -> Rows {
        let rows = sqlx::query(ROWS).fetch_all(&mut self.owner).await.unwrap();
        rows.iter().map(|row| (row.get("name"), row.get("row_of"))).collect()
    }

    pub(crate) async fn changes(&mut self, before: &Rows) -> Changes {
        let after = self.rows().await;
        let mut changes = Changes::default();
        for (name, row) in &after {
            match before.get(name) {
                None => changes.added.push(row.clone()),
                Some(old) if old != row => {
                    let fields = row.as_object().unwrap().iter().filter(|(field, value)| old[*field] != **value);
                    changes.updated.insert(name.clone(), fields.map(|(field, value)| (field.clone(), value.clone())).collect());
                }
                Some(_) => {}
            }
        }
        assert!(before.keys().all(|name| after.contains_key(name)), "nothing is ever removed");
        changes
    }

    pub(crate) fn channel(&self, channel: &str) -> String {
        format!("channel {channel} of {}", self.ours)
    }
}

impl Changes {
    /// The rows that changed, each with the fields that did.
    pub(crate) fn fields(&self) -> Vec<String> {
        let fields = |row: &Map<String, Value>| row.keys().cloned().collect::<Vec<_>>().join(" ");
        self.updated.iter().map(|(name, row)| format!("{name}: {}", fields(row))).collect()
    }

    /// What the events say that were added: the thing, the action, the attempt and the meta, in the order of the things.
    pub(crate) fn events(&self) -> Vec<(String, String, i64, Value)> {
        let mut events: Vec<_> = self
            .added
            .iter()
            .map(|row| {
                assert!(row.get("action").is_some(), "only events are added: {row}");
                assert_eq!((&row["result"], &row["error"], &row["payload_ref"]), (&json!("ok"), &Value::Null, &Value::Null));
                let thing = row["delivery_id"].as_str().or(row["channel_id"].as_str()).unwrap().to_owned();
                (thing, row["action"].as_str().unwrap().to_owned(), row["attempt"].as_i64().unwrap(), row["meta"].clone())
            })
            .collect();
        events.sort_by(|a, b| a.0.cmp(&b.0));
        events
    }

    pub(crate) fn field(&self, row: &str, field: &str) -> Value {
        self.updated[row][field].clone()
    }
}
