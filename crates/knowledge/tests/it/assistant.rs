//! The tools of assistants: search and ask as the Telegram user of the token's person, in private.

use kernel::TraceId;
use platform::assistant::{McpAnswer, McpCall, McpRefusal};
use serde_json::{Value, json};

use crate::{
    search::with_history,
    world::{ADMIN, Archive, GROUP, MEMBER, said},
};

const PRICE: &str = "Короб из бересты стоит 1200 рублей";

async fn call(archive: &Archive, person: &str, tool: &str, arguments: Value) -> Result<McpAnswer, McpRefusal> {
    let tools = knowledge::service(&archive.knowledge).tools;
    let tool = tools.iter().find(|known| known.name == tool).expect("there is such a tool");
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    tool.call(McpCall { workspace: archive.workspace, person: person.to_owned(), trace_id: TraceId::new(), arguments }).await
}

async fn tie(archive: &Archive, person: &str, user: i64) {
    knowledge::manage::tie_person(&archive.knowledge.db, archive.workspace, user, person).await.expect("it is tied");
}

/// A private note of somebody.
async fn note(archive: &Archive, id: i64, person: i64, text: &str) {
    let mut body = said(id, text);
    body["chat"] = json!({"id": person, "type": "private", "first_name": "Анна"});
    body["from"]["id"] = json!(person);
    archive.process(&json!({"update_id": id, "message": body})).await;
    archive.work().await;
}

#[tokio::test]
async fn a_token_whose_person_is_tied_to_nobody_in_telegram_is_told_what_to_run() {
    let archive = with_history(&[PRICE]).await;
    for tool in ["knowledge_search", "knowledge_ask"] {
        let refused = call(&archive, "ann b", tool, json!({"question": "сколько стоит короб?"})).await.unwrap_err();
        assert!(refused.error.contains("tied to no Telegram user"), "{refused:?}");
        assert!(refused.hint.contains("beresta knowledge chat allow TG_USER_ID --person 'ann b' --workspace "), "{refused:?}");
    }
    assert_eq!(archive.count("audit.qa_turns").await, 0);
}

#[tokio::test]
async fn an_assistant_finds_and_is_told_what_its_person_would_be_and_nothing_is_sent() {
    let archive = with_history(&[PRICE]).await;
    note(&archive, 20, MEMBER, "Код от склада 4711, не забыть").await;
    note(&archive, 21, ADMIN, "Код от сейфа 8822, не забыть").await;
    archive.say().await;
    let sent = archive.sent("telegram", MEMBER).await.len();
    tie(&archive, "ann", MEMBER).await;
    let found = call(&archive, "ann", "knowledge_search", json!({"question": "сколько стоит короб?", "limit": 3})).await.unwrap();
    assert_eq!(found.fields["hits"][0]["text"], PRICE);
    assert_eq!(found.fields["is_enough"], true);
    let told = call(&archive, "ann", "knowledge_ask", json!({"question": "какой код от склада?"})).await.unwrap();
    assert!(told.fields["answer_text"].as_str().unwrap().contains("4711"), "{told:?}");
    assert_eq!((&told.fields["status"], &told.fields["citations"][0]["rank"]), (&json!("answered"), &json!(1)));
    for logged in [&found.logged, &told.logged] {
        let logged = logged.to_string();
        assert!(!logged.contains("1200") && !logged.contains("4711") && !logged.contains("склад"), "{logged}");
    }
    let other = call(&archive, "ann", "knowledge_ask", json!({"question": "какой код от сейфа?"})).await.unwrap();
    assert!(!json!(other.fields).to_string().contains("8822"), "{other:?}");
    archive.work().await;
    archive.say().await;
    assert_eq!(archive.sent("telegram", MEMBER).await.len(), sent, "an assistant's question is answered to the assistant");
    let turn = archive.ask(&format!("(select to_jsonb(t) from audit.qa_turns t where id = {})", told.fields["turn_id"])).await;
    assert_eq!((&turn["bot_id"], &turn["channel"], &turn["status"]), (&Value::Null, &json!("dm"), &json!("answered")));
}

#[tokio::test]
async fn somebody_who_left_or_was_blocked_gets_nothing_through_their_assistant() {
    let archive = with_history(&[PRICE]).await;
    tie(&archive, "ann", MEMBER).await;
    archive.run("update tg.chat_memberships_current set proved_at = platform.now() - interval '2 hours'").await;
    archive.control("members", json!({"provider": "telegram", "target": GROUP, "user_id": MEMBER, "status": "left"})).await;
    let found = call(&archive, "ann", "knowledge_search", json!({"question": "сколько стоит короб?"})).await.unwrap();
    assert_eq!((&found.fields["hits"], &found.fields["is_enough"]), (&json!([]), &json!(false)));
    let told = call(&archive, "ann", "knowledge_ask", json!({"question": "сколько стоит короб?"})).await.unwrap();
    assert_eq!((&told.fields["status"], &told.fields["citations"]), (&json!("refused"), &json!([])));
    archive.run(&format!("update core.tenant_users set role = 'blocked' where tg_user_id = {MEMBER}")).await;
    let refused = call(&archive, "ann", "knowledge_search", json!({"question": "сколько?"})).await.unwrap_err();
    assert!(refused.error.contains("this person is blocked"), "{refused:?}");
}

#[tokio::test]
async fn a_person_who_asks_too_much_through_an_assistant_is_told_to_wait_a_minute() {
    let archive = with_history(&[PRICE]).await;
    tie(&archive, "ann", MEMBER).await;
    let ask = async || call(&archive, "ann", "knowledge_ask", json!({"question": "сколько стоит короб?"})).await;
    for _ in 0..6 {
        ask().await.unwrap();
    }
    let refused = ask().await.unwrap_err();
    assert!(refused.error.contains("Too many questions"), "{refused:?}");
    archive.advance(61);
    ask().await.unwrap();
    for question in [json!(""), json!(7), json!("ё".repeat(4097)), json!("\0")] {
        let refused = call(&archive, "ann", "knowledge_search", json!({"question": question})).await.unwrap_err();
        assert!(refused.error.contains("1 to 4096 characters"), "{refused:?}");
    }
    let refused = call(&archive, "ann", "knowledge_search", json!({"question": "сколько?", "limit": 21})).await.unwrap_err();
    assert!(refused.error.contains("from 1 to 20"), "{refused:?}");
}

#[tokio::test]
async fn what_an_assistant_asked_goes_with_its_person_and_with_time() {
    let archive = with_history(&[PRICE]).await;
    tie(&archive, "ann", MEMBER).await;
    tie(&archive, "ann", MEMBER).await;
    assert_eq!(archive.ask("(select count(*) from ops.journal where action = 'person_tied')").await, 1);
    let ask = async || call(&archive, "ann", "knowledge_ask", json!({"question": "сколько стоит короб?"})).await.unwrap();
    ask().await;
    archive.run("select knowledge.forget_sessions(100)").await;
    assert_eq!(archive.count("audit.qa_turns").await, 1);
    archive.run(&format!("select knowledge.forget('{}', 'person', null, null, {MEMBER}, 'test')", archive.workspace)).await;
    assert_eq!(archive.count("audit.qa_turns").await, 0);
    ask().await;
    archive.advance(3651 * 24 * 3600);
    archive.run("select knowledge.forget_sessions(100)").await;
    assert_eq!((archive.count("audit.qa_turns").await, archive.count("audit.qa_sessions").await), (0, 0));
}
