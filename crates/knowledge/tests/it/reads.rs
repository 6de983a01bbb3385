//! `GET /api/knowledge/…`: what can be found, of which chats, page by page.

use serde_json::json;
use testkit::http::{ask, get};

use crate::world::{Archive, GROUP, MEMBER, message, said};

async fn ids(archive: &Archive, query: &str) -> Vec<i64> {
    let reader = archive.token(&["read"]).await;
    let listed = get(&archive.router, &reader, &format!("/api/knowledge/documents{query}")).await;
    let documents = listed["documents"].as_array().expect("documents");
    documents.iter().map(|document| document["document_id"].as_i64().expect("an id")).collect()
}

#[tokio::test]
async fn documents_are_listed_by_pages_and_filters_the_newest_first() {
    let archive = Archive::new().await;
    let url = archive.page("gone", json!({ "status": 404 })).await;
    for id in 1..=4 {
        archive.process(&message(id, id, &format!("запись {id}"))).await;
    }
    archive.process(&message(5, 5, &url)).await;
    let mut private = said(6, "только для меня");
    private["chat"] = json!({ "id": MEMBER, "type": "private", "first_name": "Анна" });
    archive.process(&json!({ "update_id": 6, "message": private })).await;
    archive.work().await;
    let all = ids(&archive, "").await;
    assert_eq!(all.len(), 6, "five messages and a page; the private message is its owner's");
    assert!(all.is_sorted_by(|a, b| a > b), "{all:?}");
    let first = ids(&archive, "?limit=4").await;
    let second = ids(&archive, &format!("?limit=4&before={}", first[3])).await;
    assert_eq!([first, second].concat(), all);
    assert_eq!(ids(&archive, "?doc_type=url").await.len(), 1);
    assert_eq!(ids(&archive, "?status=error").await, ids(&archive, "?doc_type=url").await);
    assert_eq!(ids(&archive, "?status=done&doc_type=message").await.len(), 5);
    assert_eq!(ids(&archive, &format!("?chat_id={GROUP}")).await.len(), 6);
    assert_eq!(ids(&archive, &format!("?chat_id={MEMBER}")).await, [] as [i64; 0]);
    let reader = archive.token(&["read"]).await;
    for odd in ["?status=lost", "?limit=0", "?limit=1000", "?what=1"] {
        let (status, body) = ask(&archive.router, Some(&reader), "GET", &format!("/api/knowledge/documents{odd}"), None).await;
        assert_eq!(status, 422, "{odd}: {body}");
    }
}

#[tokio::test]
async fn chats_are_listed_with_their_policies_and_what_is_kept() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "запись")).await;
    archive
        .ask(&format!("to_jsonb(knowledge.set_policy('{}', {GROUP}, '{{\"retention_days_raw\": 30}}'))", archive.workspace))
        .await;
    let reader = archive.token(&["read"]).await;
    let listed = get(&archive.router, &reader, "/api/knowledge/chats").await;
    let [chat] = listed["chats"].as_array().unwrap().as_slice() else { panic!("{listed}") };
    assert_eq!((&chat["chat_id"], &chat["title"], &chat["status"]), (&json!(GROUP), &json!("Отдел продаж"), &json!("active")));
    assert_eq!((&chat["members"], &chat["documents"], &chat["unreadable"]), (&json!(1), &json!(1), &json!(0)), "{chat}");
    let policy = json!({ "allow_url_fetch": true, "allow_file_download": true, "allow_embedding": true,
                         "retention_days_raw": 30, "retention_days_documents": 3650 });
    assert_eq!(chat["policy"], policy);
    let writer = archive.token(&["workflows"]).await;
    let (status, _) = ask(&archive.router, Some(&writer), "GET", "/api/knowledge/chats", None).await;
    assert_eq!(status, 403);
}
