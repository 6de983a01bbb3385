//! Faults strike the requests they are aimed at, as often as they were told to.

use serde_json::{Value, json};

use crate::harness::{CHANNEL, Sim};

#[tokio::test]
async fn a_fault_strikes_its_target_and_method_only_and_is_used_up() {
    let sim = Sim::start().await;
    let fault = json!({"provider": "telegram", "target": CHANNEL, "method": "sendmessage", "status": 500, "times": 1});
    sim.control("faults", fault).await;
    sim.telegram_ok("sendMessage", json!({"chat_id": 1, "text": "x"})).await;
    sim.telegram_ok("sendChatAction", json!({"chat_id": CHANNEL, "action": "typing"})).await;
    assert_eq!(sim.read("faults").await["faults"].as_array().map(Vec::len), Some(1));
    let send = json!({"chat_id": CHANNEL, "text": "x"});
    let refusal = sim.telegram_refusal("sendMessage", send.clone()).await;
    assert_eq!(refusal, (500, "Internal Server Error".to_owned()));
    sim.telegram_ok("sendMessage", send).await;
    assert_eq!(sim.read("faults").await["faults"], json!([]));
    assert_eq!(sim.sent("").await.len(), 2, "a refused message is not sent");
}

#[tokio::test]
async fn a_fault_without_a_body_speaks_as_the_provider_does() {
    let sim = Sim::start().await;
    for (status, description) in [
        (403, "Forbidden: bot was kicked from the channel chat"),
        (429, "Too Many Requests: retry after 5"),
        (401, "Unauthorized"),
        (502, "Bad Gateway"),
    ] {
        let mut fault = json!({"provider": "telegram", "status": status, "times": 1});
        if status == 429 {
            fault["retry_after"] = json!(5);
        }
        sim.control("faults", fault).await;
        let refusal = sim.telegram_refusal("sendMessage", json!({"chat_id": CHANNEL, "text": "x"})).await;
        assert_eq!(refusal, (status, description.to_owned()));
    }
    for (status, code) in
        [(403, "chat.denied"), (404, "chat.not.found"), (429, "too.many.requests"), (503, "service.unavailable")]
    {
        sim.control("faults", json!({"provider": "max", "method": "POST /messages", "status": status, "times": 1})).await;
        let refusal = sim.max_refusal("POST", "/messages?chat_id=-5", json!({"text": "x"})).await;
        assert_eq!((refusal.0, refusal.1.as_str()), (status, code));
    }
}

#[tokio::test]
async fn a_fault_with_a_text_body_is_a_proxys_page() {
    let sim = Sim::start().await;
    let fault = json!({"provider": "telegram", "status": 502, "body": "<html>502</html>", "times": 1});
    sim.control("faults", fault).await;
    let (status, body) = sim.telegram("getMe", json!({})).await;
    assert_eq!((status, body), (502, Value::String("<html>502</html>".to_owned())));
}

#[tokio::test]
async fn a_share_of_requests_fails_the_same_way_for_the_same_seed() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let sim = Sim::start().await;
        sim.control("faults", json!({"provider": "telegram", "rate": 0.3, "status": 500, "seed": 7})).await;
        let mut statuses = Vec::new();
        for _ in 0..100 {
            statuses.push(sim.telegram("sendMessage", json!({"chat_id": 1, "text": "x"})).await.0);
        }
        assert_eq!(sim.read("faults").await["faults"].as_array().map(Vec::len), Some(1), "until reset");
        runs.push(statuses);
    }
    assert_eq!(runs[0], runs[1]);
    let failed = runs[0].iter().filter(|status| **status == 500).count();
    assert!((15..45).contains(&failed), "{failed}");
}

#[tokio::test]
async fn a_delayed_request_is_served_even_when_the_client_has_gone() {
    let sim = Sim::start().await;
    sim.control("faults", json!({"provider": "telegram", "delay_ms": 10, "times": 1})).await;
    let message = sim.telegram_ok("sendMessage", json!({"chat_id": 1, "text": "patient"})).await;
    assert_eq!(message["text"], "patient");
    sim.control("faults", json!({"provider": "telegram", "delay_ms": 2000, "times": 1})).await;
    let request = sim.client.post(sim.method_url("sendMessage")).json(&json!({"chat_id": 1, "text": "hasty"}));
    let hasty = tokio::spawn(request.send());
    // The fault is used up: the request is inside, and waits. Now its client goes.
    while !sim.read("faults").await["faults"].as_array().unwrap().is_empty() {
        assert!(!hasty.is_finished(), "it waits");
    }
    hasty.abort();
    let sent = loop {
        let sent = sim.sent("").await;
        if sent.len() == 2 {
            break sent;
        }
    };
    assert_eq!((&sent[0]["answered"], &sent[1]["answered"]), (&json!(true), &json!(false)));
}
