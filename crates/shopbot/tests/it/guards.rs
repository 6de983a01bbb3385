//! What nobody planned: silence, nonsense, floods, stickers, other bots. Each comes to a defined end.

use serde_json::json;

use crate::world::{World, rule};

#[tokio::test]
async fn stickers_pictures_and_empty_texts_get_a_defined_answer_and_leave_the_state() {
    let world = World::new().await;
    for (kind, text) in [("other", ""), ("text", ""), ("text", "  \n "), ("text", "\u{200b}"), ("button", "")] {
        let handled = world.does("1", kind, text).await;
        assert_eq!(handled.line, "unsupported default>default", "{kind} {text:?}");
        assert!(handled.text.starts_with("Я понимаю только текст"), "{}", handled.text);
    }
    world.says("2", "оформить возврат").await;
    assert_eq!(world.does("2", "other", "").await.line, "unsupported order>order");
    assert_eq!(world.says("2", "не помню").await, "re_asked order 1 order>order", "the question still stands");
}

#[tokio::test]
async fn ten_thousand_characters_are_a_text_like_any_other() {
    let world = World::new().await;
    let long = format!("доставка {}", "щ".repeat(10_000));
    assert_eq!(world.says("1", &long).await, "answered delivery 1 default>default");
    assert_eq!(world.says("1", &format!("{}доставка", "щ".repeat(10_000))).await, "fallback default>default");
    world.says("1", "оформить возврат").await;
    world.says("1", "12345").await;
    let handled = world.does("1", "text", &"щ".repeat(10_000)).await;
    assert_eq!(handled.line, "answered reason 1 reason>default");
    assert!(handled.text.chars().count() < 600, "a captured text is cut");
    let kept = world.ask("select max(char_length(message_text)) from shopbot.bot_logs").await;
    assert_eq!(kept, json!(1000));
}

#[tokio::test]
async fn a_start_is_greeted_with_the_menu_and_ends_a_scenario() {
    let world = World::new().await;
    world.says("1", "оформить возврат").await;
    let greeted = world.does("1", "start", "").await;
    assert_eq!(greeted.line, "greeted order>default");
    let id = greeted.done["answer_id"].as_str().unwrap();
    let menu = world.ask(&format!("select buttons from shopbot.bot_outbox where answer_id = '{id}'")).await;
    assert_eq!(menu, json!([[{ "text": "Доставка" }]]));
    assert_eq!(world.says("1", "12345").await, "fallback default>default");
}

#[tokio::test]
async fn the_third_unmatched_message_in_a_row_is_escalated_and_a_match_begins_the_count_anew() {
    let world = World::new().await;
    for text in ["а", "б", "доставка", "в", "г"] {
        let expected =
            if text == "доставка" { "answered delivery 1 default>default" } else { "fallback default>default" };
        assert_eq!(world.says("1", text).await, expected, "{text}");
    }
    let escalated = world.does("1", "text", "д").await;
    assert_eq!(escalated.line, "escalated default>default");
    assert!(escalated.text.starts_with("Передаю ваш вопрос сотруднику"), "{}", escalated.text);
    assert_eq!(world.says("1", "е").await, "fallback default>default");
}

#[tokio::test]
async fn a_scenario_that_does_not_end_is_escalated_at_its_turn_limit_and_its_state_is_reset() {
    let world = World::new().await;
    world.says("1", "доставка").await;
    assert_eq!(world.says("1", "оформить возврат").await, "answered return 1 default>order");
    for n in 2..5 {
        assert_eq!(world.says("1", "не помню").await, "re_asked order 1 order>order", "turn {n} of the scenario");
    }
    assert_eq!(world.says("1", "не помню").await, "escalated order>default", "max_turns is 5");
    let why = world.ask("select meta->'why' from shopbot.bot_logs order by id desc limit 1").await;
    assert_eq!(why, json!({ "guard": "scenario", "limit": 5 }));
    assert_eq!(world.says("1", "доставка").await, "answered delivery 1 default>default", "and the bot goes on");
}

#[tokio::test]
async fn five_questions_in_one_sitting_are_all_answered() {
    let world = World::new().await;
    for _ in 0..12 {
        assert_eq!(world.says("1", "доставка").await, "answered delivery 1 default>default");
    }
}

#[tokio::test]
async fn a_burst_of_fifty_messages_ends_in_one_escalation_and_silence_for_a_while() {
    let world = World::new().await;
    for _ in 0..50 {
        world.says("1", "доставка").await;
    }
    let counts = world.rows("select outcome, count(*) as n from shopbot.bot_logs group by outcome order by outcome").await;
    let expected = [("answered", 19), ("escalated", 1), ("muted", 30)].map(|(outcome, n)| json!({ "outcome": outcome, "n": n }));
    assert_eq!(counts, expected, "every message is in the log");
    assert_eq!(world.ask("select count(*) from shopbot.bot_outbox").await, json!(20));
    assert_eq!(world.says("2", "доставка").await, "answered delivery 1 default>default", "other chats are served");
    world.advance(299);
    assert_eq!(world.says("1", "доставка").await, "muted default>default");
    world.advance(2);
    assert_eq!(world.says("1", "доставка").await, "answered delivery 1 default>default");
}

#[tokio::test]
async fn two_bots_that_talk_to_each_other_stop_at_the_turn_guard() {
    let world = World::new().await;
    world.save(json!([rule("ping", &["номер заказа", "доставим"], json!({ "response_template": "доставка" }))])).await;
    let mut text = "доставка".to_owned();
    let mut said = 0;
    // Each answer comes back as a message of the other bot, which answers everything.
    while said < 1000 {
        let handled = world.does("1", "text", &text).await;
        if handled.text.is_empty() {
            break;
        }
        said += 1;
        text = handled.text;
    }
    assert_eq!(said, 20);
    // A bot that goes through a scenario again and again is stopped too.
    let steps = ["оформить возврат", "12345", "брак"];
    let mut said = 0;
    for step in steps.iter().cycle().take(1000) {
        if world.does("2", "text", step).await.text.is_empty() {
            break;
        }
        said += 1;
    }
    assert!((20..30).contains(&said), "{said}");
}
