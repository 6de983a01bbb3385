//! The engine: one transaction from receipt to answer, the scenario, captured answers, timeouts and versions.

use serde_json::{Value, json};

use crate::world::{World, code, rule};

#[tokio::test]
async fn a_message_leaves_a_receipt_a_state_a_log_and_an_answer_in_one_transaction() {
    let world = World::new().await;
    let handled = world.does("7", "text", "Сколько стоит доставка? Мой телефон +7 921 555-35-35").await;
    assert_eq!(
        (handled.line.as_str(), handled.text.as_str()),
        ("answered delivery 1 default>default", "Доставим. Звоните 8 800.")
    );
    let log = &world.rows("select * from shopbot.bot_logs").await[0];
    assert_eq!(log["message_text"], "Сколько стоит доставка? Мой телефон [phone]");
    assert_eq!((&log["matched_rule_id"], &log["rule_version"]), (&json!("delivery"), &json!(1)));
    assert_eq!((&log["state_before"], &log["state_after"]), (&json!("default"), &json!("default")));
    assert_eq!((&log["meta"]["trace_id"], &log["meta"]["idempotency_key"]), (&json!("trace"), &json!("max:7:m1")));
    let answer = &world.rows("select * from shopbot.bot_outbox").await[0];
    assert_eq!((&answer["status"], &answer["inbound_provider_message_id"]), (&json!("queued"), &json!("m1")));
    assert_eq!((&answer["idempotency_key"], &answer["answer_id"]), (&json!("max:7:m1"), &handled.done["answer_id"]));
    assert_eq!(answer["response_hash"].as_str().unwrap().len(), 64);
    assert_eq!(world.ask("select count(*) from shopbot.bot_inbox").await, json!(1));
    assert_eq!(
        world.ask("select payload->>'outcome' from bus.messages where topic = 'shopbot' and payload ? 'chat_id'").await,
        json!("answered")
    );
}

#[tokio::test]
async fn a_repeated_message_changes_nothing_and_is_told_its_first_answer() {
    let world = World::new().await;
    let message = world.message("1", "text", "оформить возврат");
    let first = world.handle("max", &message).await.unwrap();
    let before = world.rows("select * from shopbot.bot_state").await;
    let again = world.handle("max", &message).await.unwrap();
    assert_eq!(again, json!({ "outcome": "duplicate", "answer_id": first["answer_id"] }));
    assert_eq!(world.rows("select * from shopbot.bot_state").await, before);
    for table in ["bot_inbox", "bot_outbox", "bot_logs"] {
        assert_eq!(world.ask(&format!("select count(*) from shopbot.{table}")).await, json!(1), "{table}");
    }
    // The same id in another messenger, or in another chat, is another message.
    assert_eq!(world.handle("telegram", &message).await.unwrap()["outcome"], "answered");
    let mut elsewhere = message;
    elsewhere["chat_id"] = json!("2");
    assert_eq!(world.handle("max", &elsewhere).await.unwrap()["outcome"], "answered");
}

#[tokio::test]
async fn the_return_goes_from_order_number_to_reason_to_instructions() {
    let world = World::new().await;
    let start = world.does("1", "text", "хочу оформить возврат").await;
    assert_eq!((start.line.as_str(), start.text.as_str()), ("answered return 1 default>order", "Номер заказа?"));
    let order = world.does("1", "text", " 12345 ").await;
    assert_eq!((order.line.as_str(), order.text.as_str()), ("answered order 1 order>reason", "Заказ 12345. Причина?"));
    let reason = world.does("1", "text", "не подошёл размер").await;
    assert_eq!(
        (reason.line.as_str(), reason.text.as_str()),
        ("answered reason 1 reason>default", "12345: не подошёл размер. Везите.")
    );
    assert_eq!(
        world.ask("select context from shopbot.bot_state").await,
        json!({ "turns": 3 }),
        "the scenario is over and forgotten"
    );
}

#[tokio::test]
async fn an_answer_that_fails_its_check_is_asked_for_again_and_the_state_stays() {
    let world = World::new().await;
    world.says("1", "оформить возврат").await;
    let again = world.does("1", "text", "не помню").await;
    assert_eq!((again.line.as_str(), again.text.as_str()), ("re_asked order 1 order>order", "От 4 до 10 цифр, Анна."));
    assert_eq!(world.says("1", "123").await, "re_asked order 1 order>order");
    assert_eq!(world.says("1", "1234").await, "answered order 1 order>reason");
}

#[tokio::test]
async fn in_a_scenario_its_own_keywords_come_first_and_other_questions_are_answered_without_leaving_it() {
    let world = World::new().await;
    world.says("1", "оформить возврат").await;
    assert_eq!(world.says("1", "а какая доставка?").await, "answered delivery 1 order>order");
    assert_eq!(world.says("1", "отмена").await, "answered cancel 1 order>default");
    world.says("1", "оформить возврат").await;
    world.says("1", "12345").await;
    // The reason takes anything, also what would be a question elsewhere.
    assert_eq!(world.says("1", "долгая доставка").await, "answered reason 1 reason>default");
}

#[tokio::test]
async fn what_a_customer_wrote_is_never_read_as_a_template() {
    let world = World::new().await;
    world.says("1", "оформить возврат").await;
    world.says("1", "12345").await;
    let handled = world.does("1", "text", "{{phone}} {{order_number}} {{nothing}}").await;
    assert_eq!(handled.text, "12345: {{phone}} {{order_number}} {{nothing}}. Везите.");
}

#[tokio::test]
async fn the_log_of_an_answer_shows_captured_texts_redacted() {
    let world = World::new().await;
    world.says("1", "оформить возврат").await;
    world.says("1", "12345").await;
    let handled = world.does("1", "text", "звоните +7 921 555-35-35").await;
    assert_eq!(handled.text, "12345: звоните +7 921 555-35-35. Везите.");
    let preview = world.ask("select response_preview from shopbot.bot_logs order by id desc limit 1").await;
    assert_eq!(preview, json!("12345: звоните [phone]. Везите."));
}

#[tokio::test]
async fn the_log_of_an_answer_shows_the_customers_name_redacted() {
    let world = World::new().await;
    let message = json!({ "chat_id": "1", "provider_message_id": "m", "kind": "start", "sender_name": "+7 921 555-35-35", "shown_name": "[phone]" });
    world.run("update shopbot.bots set greeting_text = 'Здравствуйте, {{customer_name}}!'").await;
    world.run(&format!("select shopbot.handle_message($ws, 'max', '{message}')")).await;
    assert_eq!(world.ask("select text from shopbot.bot_outbox").await, json!("Здравствуйте, +7 921 555-35-35!"));
    assert_eq!(world.ask("select response_preview from shopbot.bot_logs").await, json!("Здравствуйте, [phone]!"));
}

#[tokio::test]
async fn a_state_whose_time_is_over_is_reset_before_matching() {
    let world = World::new().await;
    world.says("1", "оформить возврат").await;
    world.advance(900);
    assert_eq!(world.says("1", "ерунда").await, "re_asked order 1 order>order", "not yet, and the time begins anew");
    world.advance(901);
    assert_eq!(world.says("1", "12345").await, "fallback order>default");
    let why = world.ask("select meta->'why' from shopbot.bot_logs order by id desc limit 1").await;
    assert_eq!(why, json!({ "expired": true, "fallbacks": 1 }));
    assert_eq!(world.ask("select context->'turns' from shopbot.bot_state").await, json!(1));
}

#[tokio::test]
async fn a_running_conversation_finishes_on_the_versions_it_started_with() {
    let world = World::new().await;
    world.says("old", "оформить возврат").await;
    let change = |id: &str, more: Value| rule(id, &[], more);
    world
        .save(json!([
            change("order", json!({ "intent": "return", "state": "order", "capture": "order_number", "next_state": "reason", "response_template": "NEW {{order_number}}" })),
            change("reason", json!({ "intent": "return", "state": "reason", "capture": "why", "next_state": "default", "response_template": "NEW {{why}}" })),
        ]))
        .await;
    world.ask("select shopbot.enable_rule($ws, 'cancel', null)::text").await;
    assert_eq!(world.says("old", "не помню").await, "re_asked order 1 order>order", "the old check holds");
    assert_eq!(world.says("old", "12345").await, "answered order 1 order>reason");
    assert_eq!(world.does("old", "text", "брак").await.text, "12345: брак. Везите.");
    world.says("new", "оформить возврат").await;
    assert_eq!(
        world.says("new", "отмена").await,
        "answered order 2 order>reason",
        "the new check and the disabled rule are gone"
    );
    assert_eq!(world.does("new", "text", "брак").await.text, "NEW брак");
}

#[tokio::test]
async fn a_rule_of_any_time_that_names_a_next_state_begins_its_own_scenario() {
    let world = World::new().await;
    world
        .save(json!([
            rule("gift", &["подарок"], json!({ "next_state": "gift_to" })),
            rule("gift_to", &[], json!({ "intent": "gift", "state": "gift_to", "capture": "to_whom", "next_state": "default", "response_template": "{{to_whom}}" })),
        ]))
        .await;
    world.says("1", "оформить возврат").await;
    assert_eq!(world.says("1", "нет, подарок").await, "answered gift 1 order>gift_to");
    assert_eq!(world.does("1", "text", "маме").await.text, "маме");
}

#[tokio::test]
async fn a_workspace_without_an_enabled_bot_is_refused_and_nothing_is_kept() {
    let world = World::new().await;
    world.run("update core.bots set enabled = false").await;
    let error = world.handle("max", &world.message("1", "text", "доставка")).await.unwrap_err();
    assert_eq!(code(&error), "ZD004");
    assert_eq!(world.ask("select count(*) from shopbot.bot_inbox").await, json!(0));
}
