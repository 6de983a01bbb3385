//! What the console and the API tell of questions: a private one without what was asked, found and said, and citations as they are now.

use platform::http::Ctx;
use serde_json::{Value, json};
use testkit::http::ask;

use crate::{
    search::with_history,
    world::{Archive, GROUP, MEMBER, edit},
};

const PRICE: &str = "Короб из бересты стоит 1200 рублей";

async fn get(archive: &Archive, path: &str) -> (u16, Value) {
    let (status, body) = ask(&archive.router, Some(&archive.token), "GET", path, None).await;
    (status, body["data"].clone())
}

async fn asked(archive: &Archive, channel: &str, question: &str) -> i64 {
    let chat = if channel == "dm" { MEMBER } else { GROUP };
    let req = json!({"tg_user_id": MEMBER, "channel": channel, "chat_id": chat, "question": question});
    archive.data("WF51", req).await["turn_id"].as_i64().expect("a turn")
}

/// The page of the console.
async fn page(archive: &Archive, query: &str) -> String {
    let pages = knowledge::service(&archive.knowledge).pages;
    let app = archive.app(archive.test.db.clone());
    let ctx = Ctx::authenticate(&app, &archive.token).await.expect("the token is known");
    (pages[0].render)(&ctx, query).await.unwrap_or_else(|_| panic!("no page for {query}"))
}

#[tokio::test]
async fn a_question_is_listed_with_its_answer_and_a_private_one_without_a_word() {
    let archive = with_history(&[PRICE]).await;
    let open = asked(&archive, "group", "сколько стоит короб?").await;
    let private = asked(&archive, "dm", "сколько стоит короб из бересты?").await;
    asked(&archive, "group", "кто выиграл чемпионат мира по хоккею?").await;
    let (_, listed) = get(&archive, "/api/knowledge/questions").await;
    let rows = listed["questions"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["status"].as_str().unwrap()).collect::<Vec<_>>(), ["refused", "answered", "answered"]);
    assert_eq!((&rows[2]["question"], &rows[2]["is_private"]), (&json!("сколько стоит короб?"), &json!(false)));
    assert_eq!(
        (&rows[1]["question"], &rows[1]["answer_text"], &rows[1]["is_private"]),
        (&Value::Null, &Value::Null, &json!(true))
    );
    let (_, refused) = get(&archive, &format!("/api/knowledge/questions?status=refused&chat_id={GROUP}&limit=1")).await;
    assert_eq!(refused["questions"].as_array().map(Vec::len), Some(1));
    assert_eq!(get(&archive, &format!("/api/knowledge/questions?before={open}")).await.1["questions"], json!([]));
    assert_eq!(get(&archive, "/api/knowledge/questions?status=lost").await.0, 422);

    let (_, one) = get(&archive, &format!("/api/knowledge/questions/{open}")).await;
    let one = &one["question"];
    assert!(one["answer_text"].as_str().unwrap().contains("1200"), "{one}");
    assert_eq!((&one["citations"][0]["state"], &one["candidates"][0]["beginning"]), (&json!("there"), &json!(PRICE)));
    assert!(one["candidates"][0]["words"].as_f64().unwrap() > 0.0, "{one}");
    let (_, hidden) = get(&archive, &format!("/api/knowledge/questions/{private}")).await;
    assert_eq!((&hidden["question"]["citations"], &hidden["question"]["candidates"]), (&json!([]), &json!([])));
    assert!(!hidden.to_string().contains("1200") && !hidden.to_string().contains("короб"), "{hidden}");
    assert_eq!(get(&archive, "/api/knowledge/questions/4711").await.0, 404);
}

#[tokio::test]
async fn the_console_shows_questions_how_they_were_ranked_and_how_well_they_were_answered() {
    let archive = with_history(&[PRICE]).await;
    assert!(page(&archive, "").await.contains("Nothing was asked yet"));
    let open = asked(&archive, "group", "сколько стоит <короб>?").await;
    let private = asked(&archive, "dm", "сколько стоит короб из бересты?").await;
    archive.run(&format!("update audit.qa_turns set is_useful = true where id = {open}")).await;
    let overview = page(&archive, "").await;
    assert!(overview.contains("сколько стоит &lt;короб&gt;?") && overview.contains("Answered"), "{overview}");
    let list = page(&archive, "questions=answered").await;
    assert!(list.contains("in private") && !list.contains("короб из бересты") && list.contains("useful"), "{list}");
    assert!(page(&archive, "questions=failed").await.contains("No question here"));
    let one = page(&archive, &format!("question={open}")).await;
    assert!(one.contains("1200 рублей [1]") && one.contains("What was found") && one.contains("Vector"), "{one}");
    let hidden = page(&archive, &format!("question={private}")).await;
    assert!(hidden.contains("belongs to the person who asked") && !hidden.contains("1200"), "{hidden}");
}

#[tokio::test]
async fn a_citation_whose_chunk_is_gone_or_not_visible_any_more_says_so() {
    let archive = with_history(&[PRICE, "Лукошко из лозы стоит 900 рублей"]).await;
    let first = asked(&archive, "group", "сколько стоит короб из бересты?").await;
    let second = asked(&archive, "group", "сколько стоит лукошко из лозы?").await;
    let state = async |turn: i64| {
        let (_, body) = get(&archive, &format!("/api/knowledge/questions/{turn}")).await;
        let cited = body["question"]["citations"][0].clone();
        (cited["state"].clone(), cited["snippet"].is_null())
    };
    assert_eq!(state(first).await, (json!("there"), false));
    archive.process(&edit(50, 1, "Короб из бересты больше не продаётся", 60)).await;
    archive.work().await;
    assert_eq!(state(first).await, (json!("gone"), true));
    assert!(page(&archive, &format!("question={first}")).await.contains(">gone<"));
    archive.run(&format!("update core.tenant_chats set status = 'disabled' where chat_id = {GROUP}")).await;
    assert_eq!(state(second).await, (json!("not_visible"), true));
    assert!(page(&archive, &format!("question={second}")).await.contains("not visible any more"));
}
