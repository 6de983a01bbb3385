//! Search: what an audience may see, best first, by words in any of their forms.

use serde_json::{Value, json};
use testkit::http::ask;

use crate::world::{ADMIN, Archive, GROUP, MEMBER, OUTSIDER, edit, message, said};

const OTHER_GROUP: i64 = -1_001_234_567_891;

/// What a person finds in a group, or in private.
async fn found(archive: &Archive, person: i64, chat: Option<i64>, question: &str) -> Value {
    let (status, body) = asked(archive, person, chat, question).await;
    assert_eq!(status, 200, "{body}");
    body["data"].clone()
}

async fn asked(archive: &Archive, person: i64, chat: Option<i64>, question: &str) -> (u16, Value) {
    let encoded: String = url::form_urlencoded::byte_serialize(question.as_bytes()).collect();
    let chat = chat.map(|chat| format!("&chat_id={chat}")).unwrap_or_default();
    ask(&archive.router, Some(&archive.token), "GET", &format!("/api/knowledge/search?q={encoded}&as={person}{chat}"), None).await
}

fn texts(found: &Value) -> Vec<&str> {
    found["hits"].as_array().into_iter().flatten().filter_map(|hit| hit["text"].as_str()).collect()
}

pub(crate) async fn with_history(lines: &[&str]) -> Archive {
    let archive = Archive::new().await;
    for (at, line) in (1..).zip(lines) {
        archive.process(&message(at, at, line)).await;
    }
    archive.work().await;
    archive
}

const HISTORY: [&str; 5] = [
    "Доставка по городу бесплатная от трёх тысяч рублей",
    "Короб из бересты стоит 1200 рублей",
    "Ярмарка в субботу, сбор у склада в восемь",
    "Аренда стенда оплачена до конца месяца",
    "Ёлка уже стоит на площади",
];

#[tokio::test]
async fn a_message_is_found_by_its_words_in_any_form_and_with_slips() {
    let archive = with_history(&HISTORY).await;
    for (question, wanted) in [
        ("сколько стоят берестяные коробы", HISTORY[1]),
        ("платная ли доставка в городе?", HISTORY[0]),
        ("когда сбр у склда", HISTORY[2]),
        ("ЁЛКА", HISTORY[4]),
        ("елка", HISTORY[4]),
        ("аре\u{ad}нда сте\u{301}нда", HISTORY[3]),
    ] {
        let found = found(&archive, MEMBER, Some(GROUP), question).await;
        assert_eq!(texts(&found).first(), Some(&wanted), "{question}: {found}");
        let best = &found["hits"][0];
        assert_eq!((&best["rank"], &best["source_ref"]["kind"]), (&json!(1), &json!("message")));
        assert!(best["source_ref"]["link"].as_str().unwrap().starts_with("https://t.me/c/1234567890/"), "{best}");
    }
}

#[tokio::test]
async fn a_question_about_something_else_has_too_small_a_share_of_the_score_it_could_get() {
    let archive = with_history(&HISTORY).await;
    let about = found(&archive, MEMBER, Some(GROUP), "сколько стоит короб из бересты").await;
    assert_eq!(about["is_enough"], true, "{about}");
    let foreign = found(&archive, MEMBER, Some(GROUP), "кто выиграл чемпионат мира по хоккею").await;
    assert_eq!(foreign["is_enough"], false, "{foreign}");
    for nothing in ["?!", "   ", "\u{200b}"] {
        assert_eq!(found(&archive, MEMBER, Some(GROUP), nothing).await["hits"], json!([]), "{nothing:?}");
    }
}

#[tokio::test]
async fn in_a_group_only_what_the_group_shared_is_found_and_in_private_what_the_asker_may_see() {
    let archive = with_history(&HISTORY).await;
    archive
        .ask(&format!("to_jsonb(knowledge.register_chat('{}', {OTHER_GROUP}, '{}', {ADMIN}))", archive.workspace, archive.bot))
        .await;
    let mut other = said(1, "Тайный склад коробов в Твери");
    other["chat"] = json!({"id": OTHER_GROUP, "type": "supergroup", "title": "Правление"});
    other["from"] = json!({"id": ADMIN, "is_bot": false, "first_name": "Игорь"});
    archive.process(&json!({"update_id": 50, "message": other})).await;
    let mut private = said(1, "Мой пароль от склада коробов 4711");
    private["chat"] = json!({"id": MEMBER, "type": "private", "first_name": "Анна"});
    archive.process(&json!({"update_id": 51, "message": private})).await;
    archive.work().await;
    let question = "склад коробов";
    let all = |found: &Value| found.to_string();
    let in_group = found(&archive, ADMIN, Some(OTHER_GROUP), question).await;
    assert!(
        all(&in_group).contains("Твери") && !all(&in_group).contains("4711"),
        "an admin's further rights do not count in a group"
    );
    let (status, body) = asked(&archive, MEMBER, Some(OTHER_GROUP), question).await;
    assert_eq!((status, body["error"]["kind"].as_str()), (403, Some("auth")), "{body}");
    let of_member = found(&archive, MEMBER, None, question).await;
    assert!(all(&of_member).contains("4711") && !all(&of_member).contains("Твери"), "{of_member}");
    let of_admin = found(&archive, ADMIN, None, question).await;
    assert!(
        all(&of_admin).contains("4711") && all(&of_admin).contains("Твери"),
        "an admin sees others' private documents in private"
    );
    assert_eq!(asked(&archive, OUTSIDER, None, question).await.0, 403);
    assert_eq!(asked(&archive, MEMBER, Some(-5), question).await.0, 404);
}

#[tokio::test]
async fn what_was_edited_is_found_as_it_is_now_and_what_was_forgotten_not_at_all() {
    let archive = with_history(&HISTORY).await;
    archive.process(&edit(60, 2, "Туесок стоит 900 рублей", 60)).await;
    archive.work().await;
    let found_now = found(&archive, MEMBER, Some(GROUP), "сколько стоит туесок").await;
    assert_eq!(texts(&found_now)[0], "Туесок стоит 900 рублей");
    assert!(!found(&archive, MEMBER, Some(GROUP), "короб из бересты").await.to_string().contains("1200"));
    archive.ask(&format!("knowledge.forget('{}', 'message', {GROUP}, 2, null, 'test')", archive.workspace)).await;
    archive.work().await;
    assert!(!found(&archive, MEMBER, Some(GROUP), "сколько стоит туесок").await.to_string().contains("900"));
    // Nothing is left of its words either, once they were counted.
    archive.ask(&format!("knowledge.count_terms('{}', 1000)", archive.workspace)).await;
    assert_eq!(archive.count("kg.term_changes").await, 0);
    let drift = "(select count(*) from (
            select term, count(*) as chunks from kg.chunk_terms t,
                   unnest(string_to_array(split_part(substr(t.weights::text, 2), '}', 1), ',')) e, split_part(e, ':', 1) s, cast(s as int) term
             group by term union all select 0, count(*) from kg.chunk_terms) n
          full join kg.term_frequencies f using (term) where n.chunks is distinct from f.chunks)";
    assert_eq!(archive.ask(drift).await, 0, "frequencies are those of the chunks that there are");
}

#[tokio::test]
async fn the_same_text_is_one_hit_and_a_hit_comes_with_what_stands_around_it() {
    let archive =
        with_history(&["Когда привезут короба?", "Короба привезут во вторник", "Спасибо!", "Короба привезут во вторник"]).await;
    let found = found(&archive, MEMBER, Some(GROUP), "короба привезут во вторник").await;
    let hits = found["hits"].as_array().unwrap();
    assert_eq!(hits.iter().filter(|hit| hit["text"] == "Короба привезут во вторник").count(), 1, "{found}");
    assert_eq!(hits[0]["also"].as_array().unwrap().len(), 1);
    let around: Vec<&str> = hits[0]["around"].as_array().unwrap().iter().map(|near| near["place"].as_str().unwrap()).collect();
    assert!(around.contains(&"before"), "{found}");
}

#[tokio::test]
async fn where_a_question_was_found_its_reply_follows_as_a_hit_of_its_own() {
    let archive = with_history(&["Почём лукошко плетёное?"]).await;
    let mut reply = said(2, "Девятьсот");
    reply["reply_to_message"] = said(1, "Почём лукошко плетёное?");
    archive.process(&json!({"update_id": 2, "message": reply})).await;
    archive.work().await;
    let found = found(&archive, MEMBER, Some(GROUP), "почём плетёное лукошко").await;
    assert_eq!(texts(&found), ["Почём лукошко плетёное?", "Девятьсот"]);
    assert_eq!(found["hits"][1]["answers_chunk"], found["hits"][0]["chunk_id"]);
}

#[tokio::test]
async fn a_model_that_is_worth_something_finds_what_shares_no_word() {
    let archive = with_history(&HISTORY).await;
    // The local model measures as worth nothing beside the words, and is not asked.
    let by_words = found(&archive, MEMBER, Some(GROUP), "короб").await;
    assert!(by_words["hits"][0]["vector"].is_null(), "{by_words}");
    archive.run("update kg.embedding_models set search_weight = 0.5").await;
    let by_both = found(&archive, MEMBER, Some(GROUP), "короб").await;
    assert!(by_both["hits"][0]["vector"].as_f64().unwrap() > 0.1, "{by_both}");
    assert_eq!(texts(&by_both)[0], HISTORY[1]);
}

#[tokio::test]
async fn search_refuses_what_it_cannot_do_with_words() {
    let archive = Archive::new().await;
    let get = async |query: &str| {
        ask(&archive.router, Some(&archive.token), "GET", &format!("/api/knowledge/search?{query}"), None).await.0
    };
    assert_eq!(get(&format!("q=x&as={MEMBER}&limit=0")).await, 422);
    assert_eq!(get(&format!("q=x&as={MEMBER}&limit=51")).await, 422);
    assert_eq!(get("q=x").await, 422);
    assert_eq!(get(&format!("q=x&as={MEMBER}&who=1")).await, 422);
    let token = archive.world.token(&["read"]).await;
    let (status, body) = ask(&archive.router, Some(&token), "GET", &format!("/api/knowledge/search?q=x&as={MEMBER}"), None).await;
    assert_eq!((status, body["error"]["details"]["required_scope"].as_str()), (403, Some("knowledge:search")), "{body}");
}
