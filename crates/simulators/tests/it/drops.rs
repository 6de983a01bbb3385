//! A dropped connection is a dropped connection: no HTTP answer at all.

use serde_json::json;

use crate::harness::{CHANNEL, Sim};

#[tokio::test]
async fn a_connection_dropped_after_acceptance_leaves_a_message_whose_answer_never_came() {
    let sim = Sim::start().await;
    sim.control("faults", json!({"provider": "telegram", "target": CHANNEL, "drop": true, "times": 1})).await;
    let params = json!({"chat_id": CHANNEL, "text": "x"});
    let error = sim.client.post(sim.method_url("sendMessage")).json(&params).send().await.unwrap_err();
    assert!(error.status().is_none() && error.is_request(), "{error:?}");
    let sent = sim.sent(&format!("provider=telegram&target={CHANNEL}")).await;
    assert_eq!((sent.len(), &sent[0]["answered"]), (1, &json!(false)));
    let again = sim.telegram_ok("sendMessage", params).await;
    assert_eq!(again["message_id"], 2, "the first one took an id");
}

#[tokio::test]
async fn a_connection_dropped_before_acceptance_leaves_nothing() {
    let sim = Sim::start().await;
    for provider in ["telegram", "max"] {
        sim.control("faults", json!({"provider": provider, "drop": "before", "times": 1})).await;
    }
    let params = json!({"chat_id": CHANNEL, "text": "x"});
    assert!(sim.client.post(sim.method_url("sendMessage")).json(&params).send().await.is_err());
    assert!(sim.client.get(format!("{}/max/me", sim.base)).header("authorization", "abc").send().await.is_err());
    assert!(sim.sent("").await.is_empty());
    let calls = sim.read("calls").await["calls"].as_array().cloned().unwrap();
    assert_eq!(calls.len(), 2);
    assert!(calls.iter().all(|call| call["dropped"] == true && call["status"] == 0), "{calls:?}");
}

#[tokio::test]
async fn max_accepts_and_loses_the_answer_too() {
    let sim = Sim::start().await;
    sim.control("faults", json!({"provider": "max", "method": "POST /messages", "drop": "after", "times": 1})).await;
    let request = sim.client.post(format!("{}/max/messages?chat_id=-7", sim.base));
    assert!(request.header("authorization", "abc").json(&json!({"text": "x"})).send().await.is_err());
    let sent = sim.sent("provider=max&target=-7").await;
    assert_eq!((sent.len(), &sent[0]["answered"]), (1, &json!(false)));
}
