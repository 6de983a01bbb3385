//! `beresta ops`: the runbook as an operator types it, and mistypes it.

use std::process::Output;

use kernel::WorkspaceId;
use serde_json::{Value, json};
use sqlx::postgres::PgListener;
use testkit::TestDb;
use uuid::Uuid;

use crate::support::{PATIENCE, beresta, database, stderr, stdout};

/// A database with one workspace, its channels `tg-news` and `tg-jobs`, and deliveries that ended in different ways.
struct Stage {
    db: TestDb,
    workspace: WorkspaceId,
}

impl Stage {
    async fn new() -> Self {
        let db = database().await;
        let workspace = db.workspace("shop").await;
        let stage = Self { db, workspace };
        stage
            .sql(
                "insert into posting.channels (workspace_id, channel_id, platform, target_id, auth_ref, rate_group, rate_rps,
                                               max_parallel, route_filter, settings)
                 select $1, c.id, 'telegram', c.target, 'old-bot', 'bot', null, 10,
                        jsonb_build_object('include_any', jsonb_build_array(c.id)), '{\"on_unknown\": \"hold\"}'
                   from (values ('tg-news', '-1001'), ('tg-jobs', '-1002')) c (id, target)",
            )
            .await;
        stage
            .sql(
                "insert into posting.credential_bindings (workspace_id, auth_ref, platform, secret_ref)
                 values ($1, 'old-bot', 'telegram', 'env:OLD'), ($1, 'new-bot', 'telegram', 'env:NEW')",
            )
            .await;
        stage.sql("insert into posting.policies (workspace_id, attempts_max) values ($1, 1)").await;
        stage
    }

    async fn sql(&self, query: &'static str) {
        sqlx::query(query).bind(self.workspace.uuid()).execute(self.db.db.pool()).await.unwrap();
    }

    /// A delivery that was begun; `end` is a call that ends it, with the delivery as $2.
    async fn deliver(&self, text: &str, end: Option<&'static str>) -> Uuid {
        let post = json!({ "text": text, "tags": ["tg-news"] });
        let enqueue = "select posting.enqueue_messages_and_deliveries($1, null, 'push', $2, null)";
        let pool = self.db.db.pool();
        let _: Value = sqlx::query_scalar(enqueue).bind(self.workspace.uuid()).bind(post).fetch_one(pool).await.unwrap();
        self.sql("select count(*) from posting.claim_deliveries($1, 'run', 10)").await;
        let start = "select delivery_id from posting.start_sending($1, 'run', 10)";
        let id: Uuid = sqlx::query_scalar(start).bind(self.workspace.uuid()).fetch_one(pool).await.unwrap();
        if let Some(end) = end {
            sqlx::query(end).bind(self.workspace.uuid()).bind(id).execute(pool).await.unwrap();
        }
        id
    }

    async fn dead(&self) -> Uuid {
        let end = r#"select posting.schedule_retry($1, $2, null, '{"code": "502", "message": "bad gateway"}')"#;
        self.deliver("never arrives", Some(end)).await
    }

    async fn status(&self, id: Uuid) -> String {
        let query = "select status from posting.deliveries where delivery_id = $1";
        sqlx::query_scalar(query).bind(id).fetch_one(self.db.db.pool()).await.unwrap()
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut all = vec!["ops"];
        all.extend(args);
        all.extend(["--workspace", "shop", "--database-url", &self.db.url]);
        beresta(&all).env("USER", "ann").output().unwrap()
    }

    /// The rows that a command prints; it succeeds.
    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(&[args, &["--json"]].concat());
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        serde_json::from_str(&stdout(&output)).unwrap_or_else(|error| panic!("{args:?}: {error}: {}", stdout(&output)))
    }

    /// What a command says when it refuses.
    fn refusal(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(!output.status.success(), "{args:?}: {}", stdout(&output));
        stderr(&output)
    }
}

#[tokio::test]
async fn an_operator_looks_at_what_is_wrong_and_takes_it_on() {
    let stage = Stage::new().await;
    let empty = stage.run(&["alerts"]);
    assert!(empty.status.success() && stdout(&empty).is_empty() && stderr(&empty).contains("nothing is wrong"));
    stage.dead().await;
    stage.sql("select $1::uuid, told from ops.check_alerts('posting')").await;
    let seen = stdout(&stage.run(&["alerts"]));
    assert!(seen.contains("posting  dead_letters  1") && seen.trim_end().ends_with("tg-news"), "{seen}");
    assert!(
        stage.refusal(&["acknowledge", "--module", "posting", "--alert", "x", "--reason", "r"]).contains("no such alert now")
    );
    let done = stage.run(&["acknowledge", "--module", "posting", "--alert", "dead_letters", "--reason", "on it"]);
    assert!(done.status.success() && stderr(&done).contains("acknowledged 1"), "{}", stderr(&done));
    assert_eq!(stage.json(&["alerts"])[0]["acknowledged_by"], "ann");
}

#[tokio::test]
async fn an_operator_looks_at_the_queue_and_at_what_broke() {
    let stage = Stage::new().await;
    let empty = stage.run(&["snapshot"]);
    assert!(empty.status.success() && stdout(&empty).is_empty() && stderr(&empty).contains("no deliveries yet"));
    let dead = stage.dead().await;
    assert_eq!(stdout(&stage.run(&["snapshot"])), "status  deliveries\ndead    1\n");
    let expected = json!([{ "workspace_id": stage.workspace, "status": "dead", "deliveries": 1 }]);
    assert_eq!(stage.json(&["snapshot"]), expected);
    let table = stdout(&stage.run(&["errors"]));
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(
        lines[0].starts_with("ts ") && table.contains("dead_letter") && table.contains("TRANSIENT delivery 502: bad gateway")
    );
    let errors = stage.json(&["errors", "--minutes", "5", "--limit", "1"]);
    assert_eq!((&errors[0]["delivery_id"], &errors[0]["error"]["code"]), (&json!(dead), &json!("502")));
}

#[tokio::test]
async fn a_dead_delivery_is_requeued_by_name_and_the_dispatchers_hear_of_it() {
    let stage = Stage::new().await;
    let dead = stage.dead().await;
    let mut heard = PgListener::connect(&stage.db.url).await.unwrap();
    heard.listen(platform::wake::CHANNEL).await.unwrap();
    let id = dead.to_string();
    let args = ["requeue-dead", "--delivery", &id, "--reason", "the gateway is back"];
    let output = stage.run(&args);
    assert_eq!(stderr(&output), "requeued 1\n");
    assert!(stdout(&output).contains(&id) && stdout(&output).starts_with("delivery_id "), "{}", stdout(&output));
    let told = async { while !heard.recv().await.unwrap().payload().starts_with("deliveries ") {} };
    tokio::time::timeout(PATIENCE, told).await.expect("the dispatchers are told");
    assert_eq!(stage.status(dead).await, "retry");
    let query = "select meta from posting.events where action = 'manual_requeue'";
    let meta: Value = sqlx::query_scalar(query).fetch_one(stage.db.db.pool()).await.unwrap();
    assert_eq!(
        meta,
        json!({ "operator": "ann", "reason": "the gateway is back", "from_status": "dead" }),
        "$USER is the operator"
    );
    assert!(stage.refusal(&args).contains(&format!("delivery {id} is retry; only what is dead can be requeued this way")));
}

#[tokio::test]
async fn all_at_once_asks_for_a_yes_first() {
    let stage = Stage::new().await;
    let dead = stage.dead().await;
    let refused = stage.refusal(&["requeue-dead", "--all", "--reason", "x"]);
    assert!(refused.contains("1 delivery dead; nothing was changed: add --yes to requeue"), "{refused}");
    assert_eq!(stage.status(dead).await, "dead");
    let rows = stage.json(&["requeue-dead", "--all", "--yes", "--reason", "x", "--operator", "bob"]);
    assert_eq!((&rows[0]["delivery_id"], &rows[0]["attempt"]), (&json!(dead), &json!(1)));
    assert_eq!(stage.status(dead).await, "retry");
    assert_eq!(stage.json(&["requeue-failed", "--all", "--reason", "x"]), json!([]), "nothing to do is no failure");
}

#[tokio::test]
async fn channels_are_paused_opened_and_closed_by_group() {
    let stage = Stage::new().await;
    let paused = stage.json(&["pause", "--channel", "tg-news", "--seconds", "600", "--reason", "spam wave"]);
    assert!(paused[0]["paused_until"].is_string() && paused[0]["enabled"] == true);
    let opened = stage.run(&["enable", "--channel", "tg-news", "--reason", "it is over"]);
    let lines: Vec<String> = stdout(&opened).lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(lines, ["channel_id platform rate_group enabled paused_until error_streak", "tg-news telegram bot true - 0"]);
    let closed = stage.json(&["disable-group", "--group", "bot", "--reason", "token leaked"]);
    assert_eq!((closed.as_array().unwrap().len(), &closed[1]["enabled"]), (2, &json!(false)));
    let opened = stage.json(&["enable-group", "--group", "bot", "--reason", "token replaced"]);
    assert_eq!((&opened[0]["enabled"], &opened[1]["enabled"]), (&json!(true), &json!(true)));
}

#[tokio::test]
async fn a_credential_is_rotated_once_nothing_is_being_sent() {
    let stage = Stage::new().await;
    let sending = stage.deliver("on its way", None).await;
    let args = ["rotate-auth", "--channel", "tg-news", "--auth-ref", "new-bot", "--reason", "yearly"];
    let refused = stage.refusal(&args);
    assert!(refused.contains("1 delivery of `tg-news` is being sent with `old-bot`"), "{refused}");
    assert!(refused.contains("run the same command again in a moment"), "{refused}");
    let end = "select posting.mark_sent($1, $2, 'm-1')";
    sqlx::query(end).bind(stage.workspace.uuid()).bind(sending).execute(stage.db.db.pool()).await.unwrap();
    let output = stage.run(&args);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("still paused; `beresta ops enable --channel tg-news` ends that now"),
        "{}",
        stderr(&output)
    );
    assert!(stdout(&output).contains("new-bot"));
}

#[tokio::test]
async fn what_is_stale_is_counted_then_released() {
    let stage = Stage::new().await;
    let sending = stage.deliver("stuck", None).await;
    assert_eq!(stage.json(&["release-stale", "--yes", "--reason", "x"]), json!([]), "it has only begun");
    stage.sql("update posting.channels set settings = '{}' where workspace_id = $1").await;
    stage.sql("update posting.deliveries set sending_started_at = now() - interval '11 minutes' where workspace_id = $1").await;
    let refused = stage.refusal(&["release-stale", "--reason", "x"]);
    assert!(refused.contains("1 delivery held for over 10 minutes; nothing was changed"), "{refused}");
    let rows = stage.json(&["release-stale", "--yes", "--reason", "the machine is gone"]);
    assert_eq!((&rows[0]["from_status"], &rows[0]["status"]), (&json!("sending"), &json!("retry")));
    assert_eq!(stage.status(sending).await, "retry");
}

#[tokio::test]
async fn an_unknown_outcome_is_settled_either_way() {
    let stage = Stage::new().await;
    let unknown = r#"select posting.schedule_retry($1, $2, null, '{"code": "timeout", "outcome_unknown": true}')"#;
    let arrived = stage.deliver("one", Some(unknown)).await.to_string();
    let lost = stage.deliver("two", Some(unknown)).await.to_string();
    let delivered =
        ["settle", "--delivery", &arrived, "--delivered", "--provider-message-id", "m-7", "--reason", "seen in the channel"];
    assert_eq!(stage.json(&delivered), json!([{ "delivery_id": arrived, "status": "sent" }]));
    let resend = stage.run(&["settle", "--delivery", &lost, "--resend", "--reason", "not there"]);
    assert!(stdout(&resend).contains("retry"), "{}", stderr(&resend));
    let refused = stage.refusal(&delivered);
    assert!(refused.contains("the delivery is sent; it would have to be failed_permanent or dead"), "{refused}");
    let query = "select provider_message_id from posting.deliveries where status = 'sent'";
    let provider: String = sqlx::query_scalar(query).fetch_one(stage.db.db.pool()).await.unwrap();
    assert_eq!(provider, "m-7");
}

#[tokio::test]
async fn a_mistake_is_answered_with_what_would_be_right() {
    let stage = Stage::new().await;
    let nowhere = Uuid::nil().to_string();
    let cases: &[(&[&str], &str)] = &[
        (&["snapsht"], "similar subcommand exists: 'snapshot'"),
        (&["pause", "--channel", "tg-new", "--reason", "x"], "there is no channel `tg-new`; there are: tg-news, tg-jobs"),
        (&["enable-group", "--group", "bots", "--reason", "x"], "no channel is in the group `bots`; there are: bot"),
        (&["enable", "--channel", "tg-news"], "--reason <REASON>"),
        (&["enable", "--channel", "tg-news", "--reason", " "], "a manual operation names its operator and its reason"),
        (&["pause", "--channel", "tg-news", "--seconds", "0", "--reason", "x"], "a pause lasts from 1 second to 365 days"),
        (&["requeue-dead", "--delivery", "seven", "--reason", "x"], "invalid value 'seven' for '--delivery <ID>...'"),
        (&["requeue-dead", "--reason", "x"], "--delivery <ID>..."),
        (&["requeue-dead", "--delivery", &nowhere, "--reason", "x"], "there is no delivery 00000000"),
        (&["settle", "--delivery", &nowhere, "--reason", "x"], "<--delivered|--resend>"),
        (&["settle", "--delivery", &nowhere, "--resend", "--reason", "x"], "there is no delivery 00000000"),
        (
            &["rotate-auth", "--channel", "tg-news", "--auth-ref", "new-bto", "--reason", "x"],
            "there is no credential `new-bto` for telegram; there are: new-bot, old-bot",
        ),
    ];
    for (args, words) in cases {
        let said = stage.refusal(args);
        assert!(said.contains(words), "{args:?} said {said:?}, not {words:?}");
    }
    let output = beresta(&["ops", "snapshot", "--workspace", "shp", "--database-url", &stage.db.url]).output().unwrap();
    assert!(stderr(&output).contains("there is no workspace `shp`; there are: shop"), "{}", stderr(&output));
    let nobody =
        ["ops", "enable", "--channel", "tg-news", "--reason", "x", "--workspace", "shop", "--database-url", &stage.db.url];
    let output = beresta(&nobody).env_remove("USER").output().unwrap();
    assert!(stderr(&output).contains("--operator <OPERATOR>"), "{}", stderr(&output));
}

#[test]
fn every_operation_has_help() {
    let all = stdout(&beresta(&["ops", "--help"]).output().unwrap());
    for name in [
        "snapshot",
        "errors",
        "requeue-dead",
        "requeue-failed",
        "pause",
        "enable",
        "disable-group",
        "enable-group",
        "rotate-auth",
        "release-stale",
        "settle",
    ] {
        assert!(all.contains(name), "{name}");
        let help = stdout(&beresta(&["ops", name, "--help"]).output().unwrap());
        assert!(help.contains(&format!("Usage: beresta ops {name}")) && help.contains("--workspace"), "{help}");
    }
}
