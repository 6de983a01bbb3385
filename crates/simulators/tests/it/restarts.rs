//! A provider that was down for a while comes back with everything it knew.

use serde_json::{Value, json};
use simulators::Simulators;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::harness::{CHANNEL, Hook, Sim, TOKEN, answer};

#[tokio::test]
async fn simulators_served_again_remember_messages_and_push_what_waited() {
    // Installs what a client needs in this process.
    let sim = Sim::start().await;
    let client = &sim.client;
    let simulators = Simulators::new();
    let hook = Hook::start(&[]).await;
    hook.always(500);
    let (base, stop, served) = serve(&simulators).await;
    let call = |base: &str, path: &str, body: Value| answer(client.post(format!("{base}/{path}")).json(&body));
    let method = |name: &str| format!("telegram/bot{TOKEN}/{name}");
    call(&base, &method("setWebhook"), json!({"url": hook.url})).await;
    call(&base, &method("sendMessage"), json!({"chat_id": CHANNEL, "text": "before"})).await;
    call(&base, "control/clock", json!({"scale": 0.001})).await;
    let update = json!({"provider": "telegram", "chat_id": 5, "text": "waits", "wait": true});
    assert_eq!(call(&base, "control/updates", update).await.1["delivery"]["delivered"], false);
    stop.cancel();
    served.await.unwrap();
    hook.always(200);
    let (base, _stop, _served) = serve(&simulators).await;
    let edit = json!({"chat_id": CHANNEL, "message_id": 1, "text": "after"});
    assert_eq!(call(&base, &method("editMessageText"), edit).await.0, 200);
    let next = json!({"provider": "telegram", "chat_id": 5, "text": "next", "wait": "settled"});
    assert_eq!(call(&base, "control/updates", next).await.1["delivery"]["delivered"], true);
    let texts: Vec<Value> = hook.got().iter().map(|(_, update)| update["message"]["text"].clone()).collect();
    assert_eq!(texts[texts.len() - 2..], ["waits", "next"]);
}

async fn serve(simulators: &Simulators) -> (String, CancellationToken, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    let stop = CancellationToken::new();
    let served = tokio::spawn(simulators::serve(listener, simulators.clone(), stop.clone()));
    (base, stop, served)
}
