//! Matching: the fixed `contains` mode, who wins a tie, and the reason in the log.

use serde_json::{Value, json};

use crate::world::{World, rule};

async fn fold(world: &World, text: &str) -> Value {
    let query = "select to_jsonb(shopbot.fold_text($1))";
    sqlx::query_scalar(query).bind(text).fetch_one(world.test.db.pool()).await.unwrap()
}

#[tokio::test]
async fn case_yo_spaces_and_what_nobody_sees_make_no_difference() {
    let world = World::new().await;
    for (text, folded) in [
        ("  ДОСТАВКА   до\tПскова ", "доставка до пскова"),
        ("Ёлка и ёж", "елка и еж"),
        ("е\u{308}ж", "еж"),
        ("до\u{200b}став\u{ad}ка\u{feff}", "доставка"),
        ("ﬁne ①\u{a0}Ｄelivery", "fine 1 delivery"),
        ("\u{200b}\u{2060}", ""),
    ] {
        assert_eq!(fold(&world, text).await, folded, "{text:?}");
    }
    assert_eq!(fold(&world, &"ы".repeat(10_000)).await.as_str().unwrap().chars().count(), 1000);
    world.save(json!([rule("hedgehog", &["Ёжик  в тумане"], json!({}))])).await;
    for text in ["есть ежик в тумане?", "ЁЖИК\nВ\u{a0}ТУМАНЕ", "а ёЖик в  Тумане есть"]
    {
        assert_eq!(world.says("1", text).await, "answered hedgehog 1 default>default", "{text}");
    }
}

#[tokio::test]
async fn a_keyword_may_stand_anywhere_in_the_text_and_is_no_pattern() {
    let world = World::new().await;
    world.save(json!([rule("percent", &["100%"], json!({})), rule("dot", &["a.c"], json!({}))])).await;
    assert_eq!(world.says("1", "хлопок 100%?").await, "answered percent 1 default>default");
    assert_eq!(world.says("1", "abc").await, "fallback default>default");
    assert_eq!(world.says("1", "самодоставка").await, "answered delivery 1 default>default");
}

#[tokio::test]
async fn ties_are_decided_by_priority_then_the_longest_keyword_then_the_rule_id_and_the_log_says_why() {
    let world = World::new().await;
    world
        .save(json!([
            rule("b", &["кот"], json!({ "priority": 5 })),
            rule("a", &["кот"], json!({ "priority": 5 })),
            rule("z", &["котёнок", "ко"], json!({ "priority": 5 })),
            rule("p", &["пёс"], json!({ "priority": 6 })),
        ]))
        .await;
    let cases = [
        ("кот", "a", json!({ "step": "any_time", "keyword": "кот", "decided_by": "rule_id", "over": "b" })),
        ("котенок", "z", json!({ "step": "any_time", "keyword": "котенок", "decided_by": "longest_keyword", "over": "a" })),
        ("котенок и пес", "p", json!({ "step": "any_time", "keyword": "пес", "decided_by": "priority", "over": "z" })),
        ("доставка", "delivery", json!({ "step": "any_time", "keyword": "доставк", "decided_by": "only_match" })),
    ];
    for (text, rule, why) in cases {
        assert_eq!(world.says("1", text).await, format!("answered {rule} 1 default>default"));
        let log = world
            .rows("select matched_rule_id, rule_version, meta->'why' as why from shopbot.bot_logs order by id desc limit 1")
            .await;
        assert_eq!(log, [json!({ "matched_rule_id": rule, "rule_version": 1, "why": why })], "{text}");
    }
}

#[tokio::test]
async fn a_pressed_button_is_a_message_like_any_other() {
    let world = World::new().await;
    let offered = world.does("1", "text", "возврат").await;
    let buttons = world
        .ask(&format!(
            "select buttons from shopbot.bot_outbox where answer_id = '{}'",
            offered.done["answer_id"].as_str().unwrap()
        ))
        .await;
    assert_eq!(buttons, json!([[{ "text": "Оформить", "payload": "оформить возврат" }]]));
    let pressed = world.does("1", "button", "оформить возврат").await;
    assert_eq!((pressed.line.as_str(), pressed.text.as_str()), ("answered return 1 default>order", "Номер заказа?"));
    assert_eq!(world.ask("select kind from shopbot.bot_inbox order by arrival desc limit 1").await, json!("button"));
}

#[tokio::test]
async fn a_disabled_rule_answers_nothing_and_an_unmatched_text_gets_the_fallback() {
    let world = World::new().await;
    world.ask("select shopbot.enable_rule($ws, 'payment', null)::text").await;
    let unmatched = world.does("1", "text", "оплата").await;
    assert_eq!(unmatched.line, "fallback default>default");
    assert!(unmatched.text.starts_with("Не совсем понял"), "{}", unmatched.text);
    world.ask("select shopbot.enable_rule($ws, 'payment', 1)::text").await;
    assert_eq!(world.says("1", "оплата").await, "answered payment 1 default>default");
}
