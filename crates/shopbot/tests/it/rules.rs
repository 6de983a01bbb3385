//! Saving rules: what cannot work is refused with words, and a version never changes.

use serde_json::{Value, json};

use crate::world::{World, code, refusal, rule};

/// The field and the words of a refusal.
async fn refused(world: &World, rule: Value) -> (String, String) {
    let (code, field, message) = refusal(world.try_save(json!([rule])).await.unwrap_err());
    assert_eq!(code, "ZD001", "{message}");
    (field, message)
}

#[tokio::test]
async fn an_unknown_variable_is_found_when_the_rule_is_saved_and_the_nearest_is_named() {
    let world = World::new().await;
    for (template, words) in [
        ("Звоните {{phnoe}}", "`phnoe`, which there is not; there are: phone"),
        ("Звоните {{phone", "`{{phone`"),
        ("{{order_number}}", "`order_number`"),
        ("{{}}", "``"),
    ] {
        let (field, message) = refused(&world, rule("x", &["икс"], json!({ "response_template": template }))).await;
        assert_eq!(field, "response_template");
        assert!(message.contains(words), "{message} should say {words}");
    }
    world.save(json!([rule("x", &["икс"], json!({ "response_template": "{{ customer_name }}, {{turns}}, {{phone}}" }))])).await;
    assert_eq!(world.does("1", "text", "икс").await.text, "Анна, 1, 8 800");
}

#[tokio::test]
async fn a_variable_that_rules_use_cannot_be_taken_from_a_bot() {
    let world = World::new().await;
    let error =
        world.try_run("update shopbot.bots set variables = variables - 'phone' where provider = 'max'").await.unwrap_err();
    assert_eq!(refusal(error).1, "response_template");
    let error = world.try_run("update shopbot.bots set greeting_text = 'Это {{shopname}}'").await.unwrap_err();
    let (_, field, message) = refusal(error);
    assert!(field == "greeting_text" && message.contains("shop_name"), "{field}: {message}");
    world.run("update shopbot.bots set variables = variables || '{\"phone\": \"112\"}'").await;
    assert_eq!(world.does("1", "text", "доставка").await.text, "Доставим. Звоните 112.");
}

#[tokio::test]
async fn what_can_be_no_rule_is_refused_with_its_field() {
    let world = World::new().await;
    let state = |more: Value| {
        let mut given = json!({ "state": "order", "capture": "v", "intent": "return" });
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        given
    };
    for (more, field) in [
        (json!({ "next_state": "oder" }), "next_state"),
        (json!({ "pattern": { "keywords": ["  "], "mode": "contains" } }), "pattern"),
        (json!({ "pattern": { "keywords": ["a"], "mode": "regex" } }), "pattern"),
        (json!({ "pattern": { "keywords": [], "mode": "contains" } }), "pattern"),
        (json!({ "pattern": [1] }), "pattern"),
        (json!({ "patern": 1 }), "patern"),
        (json!({ "priority": "high" }), "priority"),
        (json!({ "priority": 1.5 }), "priority"),
        (json!({ "max_turns": 1 }), "max_turns"),
        (json!({ "intent": null }), "intent"),
        (json!({ "rule_id": "a b" }), "rule_id"),
        (json!({ "capture": "v" }), "state"),
        (json!({ "response_template": "" }), "response_template"),
        (json!({ "buttons": [[{ "text": "ы".repeat(33) }]] }), "buttons"),
        (json!({ "buttons": [[{ "text": "a", "url": "https://e.org" }]] }), "buttons"),
        (json!({ "buttons": [[]] }), "buttons"),
        (state(json!({ "check_pattern": "(", "re_ask_template": "r" })), "check_pattern"),
        (state(json!({ "check_pattern": "(a)\\1", "re_ask_template": "r" })), "check_pattern"),
        (state(json!({ "check_pattern": "a" })), "re_ask_template"),
        (state(json!({ "capture": "phone" })), "capture"),
        (state(json!({ "capture": "turns" })), "capture"),
    ] {
        assert_eq!(refused(&world, rule("x", &["икс"], more.clone())).await.0, field, "{more}");
    }
    assert_eq!(world.ask("select count(*) from shopbot.bot_rules where rule_id = 'x'").await, json!(0));
}

#[tokio::test]
async fn steps_of_a_scenario_are_judged_together_and_none_is_saved_alone() {
    let world = World::new().await;
    let ask = rule("ask", &["спросить"], json!({ "next_state": "asked" }));
    let asked = rule(
        "asked",
        &[],
        json!({ "intent": "ask", "state": "asked", "capture": "it", "next_state": "default", "response_template": "{{it}}" }),
    );
    assert_eq!(refused(&world, ask.clone()).await.0, "next_state");
    assert_eq!(
        world.save(json!([ask, asked])).await,
        json!([{ "rule_id": "ask", "version": 1 }, { "rule_id": "asked", "version": 1 }])
    );
    let (_, field, message) = refusal(world.try_ask("select shopbot.enable_rule($ws, 'asked', null)::text").await.unwrap_err());
    assert!(field == "next_state" && message.contains("`ask` leads to the state `asked`"), "{message}");
}

#[tokio::test]
async fn rules_change_only_by_a_new_version_and_one_version_is_enabled() {
    let world = World::new().await;
    let saved = world.save(json!([rule("payment", &["оплат"], json!({ "response_template": "Наличными." }))])).await;
    assert_eq!(saved, json!([{ "rule_id": "payment", "version": 2 }]));
    let versions = world.rows("select version, enabled from shopbot.bot_rules where rule_id = 'payment' order by version").await;
    assert_eq!(versions, [json!({ "version": 1, "enabled": false }), json!({ "version": 2, "enabled": true })]);
    let change = "update shopbot.bot_rules set response_template = 'x' where rule_id = 'payment'";
    assert_eq!(code(&world.try_run(change).await.unwrap_err()), "ZP001");
    assert_eq!(code(&world.try_run("delete from shopbot.bot_rules").await.unwrap_err()), "ZP001");
    let both = "update shopbot.bot_rules set enabled = true where rule_id = 'payment'";
    assert_eq!(code(&world.try_run(both).await.unwrap_err()), "23505");
    world.ask("select shopbot.enable_rule($ws, 'payment', 1)::text").await;
    assert_eq!(world.does("1", "text", "оплата").await.text, "Картой.");
    let (_, _, message) = refusal(world.try_ask("select shopbot.enable_rule($ws, 'paymant', 1)::text").await.unwrap_err());
    assert!(message.contains("there is no rule `paymant`"), "{message}");
    let actions =
        world.rows("select action, subject from ops.journal where source = 'shopbot' and subject = 'payment' order by id").await;
    assert_eq!(actions.len(), 3, "saved twice, enabled once: {actions:?}");
}

#[tokio::test]
async fn a_rule_that_is_written_around_the_functions_is_judged_too() {
    let world = World::new().await;
    let raw = "insert into shopbot.bot_rules (workspace_id, rule_id, version, enabled, intent, pattern, response_template)
               values ($ws, 'raw', 1, true, 'raw', '{\"keywords\": [\"q\"], \"mode\": \"contains\"}', '{{nope}}')";
    assert_eq!(refusal(world.try_run(raw).await.unwrap_err()).1, "response_template");
}

#[tokio::test]
async fn quick_replies_are_judged_by_the_limits_that_the_adapters_know() {
    let world = World::new().await;
    let keyboard = messengers::limits::KEYBOARD;
    let reply = |label: usize, payload: usize| json!({ "text": "x".repeat(label), "payload": "x".repeat(payload) });
    let widest = reply(keyboard.text_chars_max, keyboard.payload_bytes_max);
    for (replies, is_one) in [
        (json!(vec![vec![widest; keyboard.row_max]; keyboard.rows_max]), true),
        (json!(vec![[reply(1, 1)]; keyboard.rows_max + 1]), false),
        (json!([vec![reply(1, 1); keyboard.row_max + 1]]), false),
        (json!([[reply(keyboard.text_chars_max + 1, 1)]]), false),
        (json!([[reply(1, keyboard.payload_bytes_max + 1)]]), false),
    ] {
        assert_eq!(world.ask(&format!("select shopbot.is_quick_replies('{replies}')")).await, json!(is_one), "{replies}");
    }
}
