//! WF11 and polling: how the updates of a bot come is watched, mended and switched, and no update is lost by it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use knowledge::polling::Poller;
use platform::{
    door::{BotModule, InnerDoor},
    module::Service,
};
use serde_json::{Value, json};
use testkit::until;
use tokio_util::sync::CancellationToken;

use crate::world::{Archive, said};

impl Archive {
    async fn configure(&self, mode: &str, url: Option<&str>) {
        let path = self.files.path().join("webhook-secret");
        std::fs::write(&path, self.secret).expect("a secret is written");
        let url = url.map_or("null".to_owned(), |url| format!("'{url}'"));
        self.run(&format!(
            "insert into core.bot_transport_config (workspace_id, bot_id, mode, webhook_url, webhook_secret_ref)
             values ('{}', '{}', '{mode}', {url}, 'file:{}')
             on conflict (workspace_id, bot_id) do update set mode = excluded.mode, webhook_url = excluded.webhook_url",
            self.workspace,
            self.bot,
            path.display()
        ))
        .await;
    }

    async fn watch(&self) -> Value {
        self.data("WF11", json!({ "bot_id": self.bot })).await
    }

    fn poller(&self) -> Poller {
        let Service { bots, .. } = knowledge::service(&self.knowledge);
        self.poller_for(bots.into_iter().collect())
    }

    fn poller_for(&self, modules: Vec<BotModule>) -> Poller {
        Poller::new(self.knowledge.clone(), InnerDoor::new(self.app(self.test.db.clone()), modules))
    }

    async fn update(&self, id: i64, text: &str) {
        let update = json!({ "message": said(id, text) });
        let made =
            self.control("updates", json!({ "provider": "telegram", "token": "123456:test-token", "update": update })).await;
        assert!(made["error"].is_null(), "{made}");
    }
}

#[tokio::test]
async fn a_check_writes_snapshot_state_and_events() {
    let archive = Archive::new().await;
    let noted = archive.watch().await;
    assert_eq!((&noted["mode"], &noted["verdict"]), (&json!("webhook"), &json!("no_webhook")));
    assert_eq!(archive.count("ops.webhook_health_snapshots").await, 1);
    assert_eq!(archive.ask("(select to_jsonb(failures) from core.bot_transport_state)").await, 1);
    let (status, _) = archive.call("WF11", json!({ "bot_id": uuid::Uuid::nil() })).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn while_telegram_does_not_answer_nothing_is_changed() {
    let archive = Archive::new().await;
    archive.configure("auto", Some("https://bots.example/hooks/telegram")).await;
    archive.control("faults", json!({ "provider": "telegram", "status": 500, "times": 3 })).await;
    let noted = archive.watch().await;
    assert_eq!((&noted["mode"], &noted["verdict"], &noted["event_ids"]), (&json!("webhook"), &json!("unreachable"), &json!([])));
}

#[tokio::test]
async fn polling_brings_every_update_once_and_confirms_it_after_it_is_stored() {
    let archive = Archive::new().await;
    archive.configure("polling", None).await;
    assert_eq!(archive.watch().await["mode"], "polling");
    archive.update(1, "по опросу").await;
    archive.update(2, "ещё одно").await;
    let poller = archive.poller();
    poller.drain().await.unwrap();
    poller.drain().await.unwrap();
    archive.work().await;
    assert_eq!(archive.texts().await, ["по опросу", "ещё одно"]);
    assert_eq!(archive.count("raw.telegram_updates").await, 2);
}

#[tokio::test]
async fn updates_that_are_numbered_anew_after_a_silent_week_are_not_lost() {
    let archive = Archive::new().await;
    archive.configure("polling", None).await;
    archive.watch().await;
    let poller = archive.poller();
    for (update_id, id, text) in [(900_000_000, 1, "до тишины"), (5_000, 2, "после тишины"), (5_001, 3, "и ещё")]
    {
        let update = json!({ "update_id": update_id, "message": said(id, text) });
        archive.control("updates", json!({ "provider": "telegram", "token": "123456:test-token", "update": update })).await;
        poller.drain().await.unwrap();
        if id == 1 {
            // The next poll confirms it; then there is silence.
            poller.drain().await.unwrap();
            archive.advance(8 * 86_400);
        }
    }
    archive.work().await;
    assert_eq!(archive.texts().await, ["до тишины", "после тишины", "и ещё"]);
    assert_eq!(archive.count("raw.telegram_updates").await, 3);
}

#[tokio::test]
async fn a_bot_is_polled_by_one_process_at_a_time() {
    let archive = Archive::new().await;
    archive.configure("polling", None).await;
    archive.watch().await;
    let begin =
        |token: &str| format!("knowledge.begin_poll('{}', '{}', '{token}', interval '1 minute')", archive.workspace, archive.bot);
    assert_eq!(archive.ask(&begin("a")).await, 0);
    assert_eq!(archive.ask(&begin("b")).await, Value::Null);
    assert_eq!(archive.ask(&begin("a")).await, 0);
    archive.advance(61);
    assert_eq!(archive.ask(&begin("b")).await, 0);
    let end =
        format!("(select to_jsonb('x'::text) from knowledge.end_poll('{}', '{}', 'a', 900))", archive.workspace, archive.bot);
    archive.ask(&end).await;
    assert_eq!(archive.ask(&begin("b")).await, 0, "who lost the turn confirms nothing");
}

#[tokio::test]
async fn a_bot_whose_update_made_a_module_panic_is_polled_again() {
    let archive = Archive::new().await;
    archive.configure("polling", None).await;
    archive.watch().await;
    archive.update(1, "по опросу").await;
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let module = BotModule::new("knowledge", move |_app, _update| {
        let number = counted.fetch_add(1, Ordering::Relaxed);
        async move {
            assert!(number > 0, "as the test wants it");
            Ok(())
        }
    });
    let stop = CancellationToken::new();
    let poller = archive.poller_for(vec![module]).pausing(Duration::from_millis(1));
    let polling = tokio::spawn(poller.run(stop.clone()));
    let offset = "(select to_jsonb(last_update_id) from core.bot_transport_state)";
    until("the update is taken", async || archive.ask(offset).await.is_number().then_some(())).await;
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    stop.cancel();
    polling.await.unwrap();
    assert_eq!(archive.ask("(select to_jsonb(poll_token) from core.bot_transport_state)").await, Value::Null);
}

const URL: &str = "https://bots.example/hooks/telegram";

#[tokio::test]
async fn a_webhook_that_is_missing_or_moved_is_set_to_what_is_configured() {
    let archive = Archive::new().await;
    archive.configure("webhook", Some(URL)).await;
    let noted = archive.watch().await;
    assert_eq!((&noted["verdict"], noted["event_ids"].as_array().unwrap().len()), (&json!("no_webhook"), 1), "{noted}");
    archive.advance(60);
    assert_eq!(archive.watch().await["verdict"], "ok");
    let moved = archive
        .control("webhooks", json!({ "provider": "telegram", "token": "123456:test-token", "url": "https://thief.example/" }))
        .await;
    assert!(moved["error"].is_null(), "{moved}");
    archive.advance(60);
    assert_eq!(archive.watch().await["verdict"], "wrong_url");
    archive.advance(60);
    assert_eq!(archive.watch().await["verdict"], "ok");
    let events = archive.list("select event from ops.bot_transport_events order by id").await;
    assert_eq!(events, [json!("webhook_repaired"), json!("webhook_repaired")]);
}

#[tokio::test]
async fn auto_polls_while_the_webhook_fails_and_no_update_is_lost_at_either_switch() {
    let archive = Archive::new().await;
    archive.configure("auto", Some(URL)).await;
    archive.watch().await;
    archive.control("webhooks", json!({ "provider": "telegram", "token": "123456:test-token", "broken": true })).await;
    archive.update(1, "пока не доходит").await;
    for _ in 0..3 {
        archive.run("update core.bot_transport_state set failures = failures + 1").await;
    }
    // The simulator's clock is the machine's: the error is of now.
    let noted = archive.watch().await;
    assert_eq!(
        (&noted["mode"], archive.ask("(select to_jsonb(transport) from core.bots)").await),
        (&json!("polling"), json!("polling")),
        "{noted}"
    );
    let poller = archive.poller();
    poller.drain().await.unwrap();
    archive.update(2, "по опросу").await;
    poller.drain().await.unwrap();
    archive.work().await;
    assert_eq!(archive.texts().await, ["пока не доходит", "по опросу"]);
    archive.advance(601);
    assert_eq!(archive.watch().await["mode"], "webhook");
    poller.drain().await.unwrap();
    let switches = archive.list("select event from ops.bot_transport_events where event like 'switched%' order by id").await;
    assert_eq!(switches, [json!("switched_to_polling"), json!("switched_to_webhook")]);
}
