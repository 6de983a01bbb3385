//! Commands about answers: /sources, /privacy and /help.

use serde_json::{Value, json};

use crate::{
    search::with_history,
    world::{Archive, GROUP, MEMBER, OUTSIDER, message, said},
};

const PRICE: &str = "Короб из бересты стоит 1200 рублей";

async fn heard(archive: &Archive, chat: i64) -> Vec<String> {
    archive.work().await;
    archive.say().await;
    archive.sent("telegram", chat).await.iter().map(|sent| sent["text"].as_str().unwrap_or_default().to_owned()).collect()
}

fn replied(id: i64, text: &str, to: &Value) -> Value {
    let mut body = said(id, text);
    body["reply_to_message"] = json!({"message_id": to, "date": 1, "chat": body["chat"].clone()});
    json!({"update_id": id, "message": body})
}

#[tokio::test]
async fn sources_are_told_again_for_the_last_answer_or_the_one_that_is_replied_to() {
    let archive = with_history(&[PRICE, "Лукошко из лозы стоит 900 рублей"]).await;
    archive.process(&message(9, 9, "/sources")).await;
    assert!(heard(&archive, GROUP).await[0].contains("источники, нет"));
    archive.process(&message(10, 10, "/ask сколько стоит короб из бересты?")).await;
    heard(&archive, GROUP).await;
    archive.process(&message(11, 11, "/ask сколько стоит лукошко из лозы?")).await;
    heard(&archive, GROUP).await;
    let first = archive.sent("telegram", GROUP).await[1]["message_ids"][0].clone();
    for _ in 0..2 {
        archive.process(&message(12, 12, "/sources")).await;
    }
    heard(&archive, GROUP).await;
    archive.process(&replied(13, "/sources", &first)).await;
    let told = heard(&archive, GROUP).await;
    assert_eq!(told.len(), 5, "{told:?}");
    assert!(told[3].starts_with("1. ") && told[3].contains("https://t.me/c/1234567890/2"), "{told:?}");
    assert!(told[4].starts_with("1. ") && told[4].contains("https://t.me/c/1234567890/1"), "{told:?}");
}

#[tokio::test]
async fn a_source_that_is_gone_is_not_named_again_and_not_told_where_it_waits_to_be_sent() {
    let archive = with_history(&[PRICE]).await;
    archive.process(&message(10, 10, "/ask сколько стоит короб?")).await;
    heard(&archive, GROUP).await;
    let forget = format!("knowledge.forget('{}', 'message', {GROUP}, 1, null, 'test')", archive.workspace);
    archive.process(&message(11, 11, "/sources")).await;
    archive.ask(&forget).await;
    assert_eq!(heard(&archive, GROUP).await.len(), 1, "it is not sent any more");
    archive.process(&message(12, 12, "/sources")).await;
    assert_eq!(heard(&archive, GROUP).await[1], "У этого ответа нет источников.");
}

#[tokio::test]
async fn privacy_says_what_is_kept_for_how_long_and_how_to_forget() {
    let archive = with_history(&[]).await;
    archive
        .run(&format!("select knowledge.set_policy('{}', {GROUP}, '{{\"retention_days_documents\": 30}}')", archive.workspace))
        .await;
    let mut of_outsider = message(10, 10, "/privacy");
    of_outsider["message"]["from"]["id"] = json!(OUTSIDER);
    archive.process(&of_outsider).await;
    let told = heard(&archive, GROUP).await;
    assert!(told[0].contains("30 дн.") && told[0].contains("90 дн.") && told[0].contains("/forget"), "{told:?}");
    assert_eq!(told.len(), 1);
}

#[tokio::test]
async fn help_says_how_to_ask_once() {
    let archive = with_history(&[]).await;
    for _ in 0..2 {
        archive.process(&message(10, 10, "/help")).await;
    }
    let told = heard(&archive, GROUP).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(["/ask", "/sources", "/privacy", "/forget"].iter().all(|command| told[0].contains(command)), "{told:?}");
    let mut private = message(11, 11, "/help");
    private["message"]["chat"] = json!({"id": MEMBER, "type": "private", "first_name": "Анна"});
    archive.process(&private).await;
    assert!(heard(&archive, MEMBER).await[0].contains("просто напишите вопрос"));
}
