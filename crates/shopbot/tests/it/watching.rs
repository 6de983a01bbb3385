//! What people see in the console: conversations by state, answers that wait or failed, rules by intent, alerts, and what is
//! published for pages that are open.

use serde_json::json;
use shopbot::reads::{self, ConversationFilter, ConversationPage, MUTED};

use crate::world::{World, rule};

async fn conversations(world: &World, filter: ConversationFilter) -> ConversationPage {
    let mut tx = world.test.db.begin(world.workspace).await.unwrap();
    reads::conversations(&mut tx, &filter).await.unwrap()
}

async fn chats(world: &World, state: &str) -> Vec<String> {
    let filter = ConversationFilter { state: Some(state.to_owned()), limit: 10, ..ConversationFilter::default() };
    conversations(world, filter).await.rows.into_iter().map(|row| row.chat_id).collect()
}

/// How much was published for the pages of the shop bot.
async fn published(world: &World) -> i64 {
    let query = "select count(*) from bus.messages where workspace_id = $ws and topic = 'shopbot'";
    world.ask(query).await.as_i64().unwrap()
}

#[tokio::test]
async fn conversations_are_found_by_the_state_they_are_in_now() {
    let world = World::new().await;
    world.set_bot("turns_max = 3").await;
    world.says("1", "доставка").await;
    world.says("2", "оформить возврат").await;
    world.says("3", "оформить возврат").await;
    world.says("3", "12345").await;
    for _ in 0..3 {
        world.says("4", "доставка").await;
    }
    assert_eq!(chats(&world, "default").await, ["1"]);
    assert_eq!(chats(&world, "order").await, ["2"]);
    assert_eq!(chats(&world, "reason").await, ["3"]);
    assert_eq!(chats(&world, MUTED).await, ["4"], "an operator was called, and the bot is silent");
    let mut tx = world.test.db.begin(world.workspace).await.unwrap();
    assert_eq!(reads::states(&mut tx).await.unwrap(), ["order", "reason"]);
    let third = reads::conversation(&mut tx, "max", "3", None).await.unwrap().unwrap();
    assert_eq!((third.intent.as_deref(), &third.captured), (Some("return"), &json!({ "order_number": "12345" })));
    assert_eq!(third.versions["reason"], 1);
    assert!(reads::conversation(&mut tx, "telegram", "3", None).await.unwrap().is_none());
    drop(tx);
    world.advance(901);
    assert!(chats(&world, "order").await.is_empty(), "its time is over");
    assert_eq!(chats(&world, "default").await.len(), 4);
}

#[tokio::test]
async fn a_page_goes_on_where_the_one_before_stopped_whatever_is_filtered() {
    let world = World::new().await;
    for n in 0..5 {
        world.says(&format!("{n}"), if n % 2 == 0 { "доставка" } else { "оформить возврат" }).await;
        world.advance(1);
    }
    let filter = ConversationFilter { state: Some("default".to_owned()), limit: 2, ..ConversationFilter::default() };
    let first = conversations(&world, filter.clone()).await;
    let second = conversations(&world, ConversationFilter { before: first.next, ..filter }).await;
    let ids = |page: &ConversationPage| page.rows.iter().map(|row| row.chat_id.clone()).collect::<Vec<_>>();
    assert_eq!((ids(&first), ids(&second)), (vec!["4".to_owned(), "2".to_owned()], vec!["0".to_owned()]));
    assert!(first.next.is_some() && second.next.is_none());
}

#[tokio::test]
async fn answers_that_wait_and_that_failed_are_counted_for_each_chat() {
    let world = World::new().await;
    world.control("chats", json!({ "provider": "max", "target": "1", "state": "blocked" })).await;
    world.says("1", "доставка").await;
    world.drain().await;
    world.says("2", "доставка").await;
    world.says("2", "оплата").await;
    let page = conversations(&world, ConversationFilter { limit: 10, ..ConversationFilter::default() }).await;
    let counted: Vec<_> = page.rows.iter().map(|row| (row.chat_id.as_str(), row.waiting, row.failed)).collect();
    assert_eq!(counted, [("2", 2, 0), ("1", 0, 1)]);
    let mut tx = world.test.db.begin(world.workspace).await.unwrap();
    let first = reads::conversation(&mut tx, "max", "1", None).await.unwrap().unwrap();
    let messages = reads::messages(&mut tx, &first, None, 10).await.unwrap();
    assert!(messages[0].failed_at.is_some() && messages[0].next_retry_at.is_none() && messages[0].last_error.is_some());
    let second = reads::conversation(&mut tx, "max", "2", None).await.unwrap().unwrap();
    let messages = reads::messages(&mut tx, &second, None, 10).await.unwrap();
    assert!(messages[0].failed_at.is_none() && messages[0].next_retry_at.is_some());
}

#[tokio::test]
async fn rules_are_listed_by_intent_page_after_page() {
    let world = World::new().await;
    world.save(json!([rule("payment", &["оплат"], json!({ "response_template": "СБП." }))])).await;
    let mut tx = world.test.db.begin(world.workspace).await.unwrap();
    let mut seen = Vec::new();
    let mut after: Option<(String, String)> = None;
    loop {
        let place = after.as_ref().map(|(intent, rule)| (intent.as_str(), rule.as_str()));
        let rows = reads::rules_by_intent(&mut tx, place, 3).await.unwrap();
        let Some(last) = rows.last() else { break };
        after = Some((last.rule.intent.clone(), last.rule.rule_id.clone()));
        seen.extend(
            rows.iter().map(|row| format!("{}/{} {}/{}", row.rule.intent, row.rule.rule_id, row.rule.version, row.newest)),
        );
    }
    assert_eq!(
        seen,
        [
            "delivery/delivery 1/1",
            "payment/payment 2/2",
            "return/cancel 1/1",
            "return/order 1/1",
            "return/reason 1/1",
            "return/return 1/1",
            "returns/returns 1/1",
        ]
    );
    world.ask("select shopbot.enable_rule($ws, 'payment', 1)::text").await;
    let payment = reads::rules_by_intent(&mut tx, Some(("delivery", "delivery")), 1).await.unwrap();
    assert_eq!((payment[0].rule.version, payment[0].newest), (1, 2));
}

#[tokio::test]
async fn messages_answers_rules_poison_and_a_closed_bot_are_published() {
    let world = World::new().await;
    let mut before = published(&world).await;
    let changes = [
        ("a message", "says"),
        ("an answer that is sent", "drain"),
        ("a rule", "select shopbot.enable_rule($ws, 'payment', null)::text"),
        ("an update that cannot be read", "select shopbot.keep_poison($ws, 'max', null, 'x', repeat('a', 64), 'x')"),
        ("the same update once more", "select shopbot.keep_poison($ws, 'max', null, 'x', repeat('a', 64), 'x')"),
        (
            "a closed bot",
            "select shopbot.close_bot($ws, shopbot.first_bot($ws, 'max'), platform.now() + interval '1 hour')::text",
        ),
    ];
    for (what, change) in changes {
        match change {
            "says" => assert!(world.says("1", "доставка").await.starts_with("answered")),
            "drain" => assert_eq!(world.drain().await, 1),
            expression => assert!(!world.ask(expression).await.is_null()),
        }
        let after = published(&world).await;
        assert!(after > before, "{what}");
        before = after;
    }
}

#[tokio::test]
async fn alerts_are_read_while_they_last_and_after() {
    let world = World::new().await;
    world.says("1", "доставка").await;
    world.set_bot("closed_until = platform.now() + interval '1 hour'").await;
    world.advance(301);
    world.ask("(select told from ops.check_alerts('shopbot'))").await;
    let mut tx = world.test.db.begin(world.workspace).await.unwrap();
    let alerts = reads::alerts(&mut tx).await.unwrap();
    assert_eq!((alerts.len(), alerts[0].alert.as_str(), alerts[0].provider.as_str()), (1, "late_answers", "max"));
    assert!(alerts[0].told_at.is_some() && alerts[0].cleared_at.is_none() && alerts[0].count == 1);
    let ways = reads::ways_out(&mut tx).await.unwrap();
    assert!(ways.iter().all(|way| way.enabled && way.closed_until.is_some()));
    let bots = reads::bots(&mut tx).await.unwrap();
    assert_eq!((bots[0].alert_min_messages, bots[0].rate_rps), (20, None));
    drop(tx);
    world.set_bot("closed_until = null").await;
    world.drain().await;
    world.ask("(select told from ops.check_alerts('shopbot'))").await;
    let alerts = reads::alerts(&mut world.test.db.begin(world.workspace).await.unwrap()).await.unwrap();
    assert!(alerts[0].cleared_at.is_some());
}
