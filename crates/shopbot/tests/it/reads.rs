//! What can be read and saved through the API: bots, conversations, rules, poison.

use axum::Router;
use kernel::{Bundle, Secret};
use serde_json::{Value, json};
use testkit::http;

use crate::{
    hooks::router,
    world::{World, rule},
};

struct Reader {
    world: World,
    router: Router,
    token: Secret,
}

impl Reader {
    async fn new() -> Self {
        let world = World::new().await;
        let token = world.token(&[Bundle::Read, Bundle::Write]).await;
        Self { router: router(&world), world, token }
    }

    async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        http::ask(&self.router, Some(&self.token), method, path, body.as_ref()).await
    }

    async fn get(&self, path: &str) -> Value {
        http::get(&self.router, &self.token, path).await
    }
}

#[tokio::test]
async fn conversations_are_listed_by_their_last_message_each_once_over_all_pages() {
    let reader = Reader::new().await;
    for chat in ["1", "2", "3", "2", "1"] {
        reader.world.says(chat, "доставка").await;
        reader.world.advance(1);
    }
    let mut seen = Vec::new();
    let mut path = "/api/bots/conversations?limit=2".to_owned();
    loop {
        let page = reader.get(&path).await;
        seen.extend(page["conversations"].as_array().unwrap().iter().map(|row| row["chat_id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/api/bots/conversations?limit=2&before={next}");
    }
    assert_eq!(seen, ["1", "2", "3"]);
    assert_eq!(reader.ask("GET", "/api/bots/conversations?provider=sms", None).await.0, 422);
    assert_eq!(reader.ask("GET", "/api/bots/conversations?before=x", None).await.0, 422);
}

#[tokio::test]
async fn a_conversation_shows_its_state_and_for_each_message_the_rule_its_version_and_where_the_answer_stands() {
    let reader = Reader::new().await;
    reader.world.says("1", "оформить возврат").await;
    reader.world.drain().await;
    reader.world.says("1", "не помню").await;
    let data = reader.get("/api/bots/conversations/max/1").await;
    assert_eq!((&data["conversation"]["state"], &data["conversation"]["turns"]), (&json!("order"), &json!(2)));
    let messages = data["messages"].as_array().unwrap();
    assert_eq!(
        (&messages[0]["outcome"], &messages[0]["matched_rule_id"], &messages[0]["answer_status"]),
        (&json!("re_asked"), &json!("order"), &json!("queued"))
    );
    assert_eq!(
        (&messages[1]["rule_version"], &messages[1]["state_after"], &messages[1]["answer_status"]),
        (&json!(1), &json!("order"), &json!("sent"))
    );
    assert_eq!(reader.ask("GET", "/api/bots/conversations/max/404", None).await.0, 404);
    reader.world.advance(901);
    assert_eq!(reader.get("/api/bots/conversations/max/1").await["conversation"]["state"], "default", "its time is over");
}

#[tokio::test]
async fn rules_are_read_by_version_saved_and_enabled() {
    let reader = Reader::new().await;
    let rules = reader.get("/api/bots/rules?limit=200").await;
    assert_eq!(rules["rules"].as_array().unwrap().len(), 7);
    let saved =
        reader.ask("POST", "/api/bots/rules", Some(rule("payment", &["оплат"], json!({ "response_template": "СБП." })))).await;
    assert_eq!((saved.0, &saved.1["data"]["rules"]), (201, &json!([{ "rule_id": "payment", "version": 2 }])));
    let versions = reader.get("/api/bots/rules/payment").await;
    let enabled: Vec<bool> = versions["versions"].as_array().unwrap().iter().map(|row| row["enabled"] == true).collect();
    assert_eq!(enabled, [true, false]);
    let (status, body) = reader
        .ask("POST", "/api/bots/rules", Some(rule("payment", &["оплат"], json!({ "response_template": "{{fone}}" }))))
        .await;
    assert_eq!((status, &body["error"]["details"]["field"]), (422, &json!("response_template")), "{body}");
    assert!(body["error"]["message"].as_str().unwrap().contains("phone"), "{body}");
    assert_eq!(reader.ask("POST", "/api/bots/rules/payment/enable", Some(json!({ "version": 1 }))).await.0, 200);
    assert_eq!(reader.world.does("1", "text", "оплата").await.text, "Картой.");
    assert_eq!(reader.ask("POST", "/api/bots/rules/payment/enable", Some(json!({ "version": 9 }))).await.0, 404);
    assert_eq!(reader.ask("GET", "/api/bots/rules/nothing", None).await.0, 404);
}

#[tokio::test]
async fn bots_show_how_they_do_and_what_they_could_not_read() {
    let reader = Reader::new().await;
    reader.world.says("1", "доставка").await;
    reader.world.ask("select shopbot.keep_poison($ws, 'max', null, 'no words of MAX', repeat('a', 64), '{}')").await;
    let bots = reader.get("/api/bots").await;
    let max = &bots["bots"][0];
    assert_eq!(
        (&max["provider"], &max["messages"], &max["errors"], &max["waiting"]),
        (&json!("max"), &json!(2), &json!(1), &json!(1))
    );
    let poison = reader.get("/api/bots/poison").await;
    assert_eq!(poison["poison"][0]["problem"], "no words of MAX");
}

#[tokio::test]
async fn another_workspace_sees_nothing_of_it() {
    let reader = Reader::new().await;
    reader.world.says("1", "доставка").await;
    let other = reader.world.test.workspace("other").await;
    let token = reader.world.token_in(other, None, &[Bundle::Read]).await;
    let reader = Reader { token, ..reader };
    assert_eq!(reader.get("/api/bots").await["bots"], json!([]));
    assert_eq!(reader.get("/api/bots/conversations").await["conversations"], json!([]));
    assert_eq!(reader.ask("GET", "/api/bots/conversations/max/1", None).await.0, 404);
    assert_eq!(reader.get("/api/bots/rules").await["rules"], json!([]));
    assert_eq!(reader.ask("POST", "/api/bots/rules", Some(json!({}))).await.0, 403);
}
