//! The ledger of what was accepted, and of every call.

use serde_json::json;

use crate::harness::{CHANNEL, Sim};

#[tokio::test]
async fn an_accepted_message_is_listed_with_everything_it_was_sent() {
    let sim = Sim::start().await;
    let params = json!({"chat_id": "@news", "text": "<b>x</b>", "parse_mode": "HTML", "disable_notification": true});
    let message = sim.telegram_ok("sendMessage", params.clone()).await;
    let sent = sim.sent("provider=telegram&target=@news").await;
    assert_eq!(sent.len(), 1);
    let entry = &sent[0];
    assert_eq!((&entry["method"], &entry["bot_id"]), (&json!("sendMessage"), &json!(123_456)));
    assert_eq!((&entry["text"], &entry["parse_mode"]), (&json!("x"), &json!("HTML")));
    assert_eq!(entry["entities"], json!([{"type": "bold", "offset": 0, "length": 1}]));
    assert_eq!(entry["params"], params);
    assert_eq!(entry["message_ids"], json!([1]));
    assert_eq!(entry["answered"], true);
    assert!(entry["at"].as_i64().is_some_and(|at| at > 1_700_000_000_000));
    assert!(!entry.to_string().contains("test-token"));
    let by_id = sim.sent(&format!("target={}", message["chat"]["id"])).await;
    assert_eq!(by_id.len(), 1, "the id names the same chat");
}

#[tokio::test]
async fn the_ledger_is_read_page_by_page_in_order() {
    let sim = Sim::start().await;
    for number in 0..25 {
        let chat_id = if number % 2 == 0 { CHANNEL } else { 1 };
        sim.telegram_ok("sendMessage", json!({"chat_id": chat_id, "text": number.to_string()})).await;
    }
    let (mut texts, mut after) = (Vec::new(), 0);
    loop {
        let page = sim.read(&format!("sent?target={CHANNEL}&after={after}&limit=5")).await;
        assert_eq!(page["total"], 25);
        let entries = page["sent"].as_array().cloned().unwrap();
        texts.extend(entries.iter().filter_map(|entry| entry["text"].as_str()?.parse::<u32>().ok()));
        after = page["next"].as_u64().unwrap();
        if page["more"] == false {
            break;
        }
        assert_eq!(entries.len(), 5);
    }
    assert_eq!(texts, (0..25).step_by(2).collect::<Vec<_>>());
    assert_eq!(sim.read(&format!("sent?after={after}")).await["sent"], json!([]));
}

#[tokio::test]
async fn a_call_has_the_time_it_began_and_the_time_it_was_decided() {
    let sim = Sim::start().await;
    sim.control("faults", json!({"provider": "telegram", "delay_ms": 60, "times": 1})).await;
    sim.control("faults", json!({"provider": "max", "delay_ms": 60, "times": 1})).await;
    let now = || i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    let before = now();
    sim.telegram_ok("sendMessage", json!({"chat_id": CHANNEL, "text": "x"})).await;
    sim.max("POST", "/messages?chat_id=-7", Some(json!({"text": "x"}))).await;
    let after = now();
    for provider in ["telegram", "max"] {
        let calls = sim.read(&format!("calls?provider={provider}")).await;
        let call = &calls["calls"][0];
        let (began, decided) = (call["started_at"].as_i64().unwrap(), call["at"].as_i64().unwrap());
        assert!(before <= began && began + 60 <= decided && decided <= after, "{provider}: {call}");
    }
}

#[tokio::test]
async fn refused_calls_are_counted_with_their_status() {
    let sim = Sim::start().await;
    sim.telegram("sendMessage", json!({"chat_id": 1, "text": "x"})).await;
    sim.telegram("sendMessage", json!({"chat_id": 1})).await;
    sim.max("POST", "/messages", Some(json!({"text": "x"}))).await;
    let calls = sim.read("calls?provider=telegram").await;
    let statuses: Vec<_> = calls["calls"].as_array().unwrap().iter().map(|call| call["status"].as_u64()).collect();
    assert_eq!(statuses, [Some(200), Some(400)]);
    assert_eq!(calls["calls"][1]["error"], "Bad Request: message text is empty");
    let count = json!({"provider": "max", "method": "POST /messages", "status": 400, "count": 1});
    assert!(calls["counts"].as_array().unwrap().contains(&count), "{calls}");
}
