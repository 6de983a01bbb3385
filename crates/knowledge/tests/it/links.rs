//! WF30, WF31, WF33: an address becomes a page, a document and a text; each once, by policy, for one audience.

use serde_json::{Value, json};
use testkit::http::ask;

use crate::world::{Archive, GROUP, MEMBER, OUTSIDER, edit, message, said};

const PAGE: &str = "<html><head><title>Прайс-лист</title></head><body><article><h1>Прайс-лист</h1>
    <p>Берёзовый короб стоит тысячу двести рублей, лукошко стоит восемьсот рублей. Цены действуют до конца года, доставка отдельно.</p>
    <p>Оптовым покупателям скидка десять процентов от пятидесяти штук, договор подписываем в офисе на улице Берёзовой.</p></article></body></html>";

fn html() -> Value {
    json!({ "body": PAGE, "headers": { "content-type": "text/html; charset=utf-8", "etag": "\"1\"" } })
}

fn ctx() -> Value {
    json!({ "chat_id": GROUP, "visibility": "group", "dm_owner_user_id": null, "message_version_id": null })
}

#[tokio::test]
async fn a_link_in_a_message_becomes_a_document_that_can_be_found() {
    let archive = Archive::new().await;
    let url = archive.page("price", html()).await;
    let stored = archive.process(&message(1, 1, &format!("Смотрите {url}?utm_source=x"))).await;
    assert_eq!(stored["created_jobs"]["url_jobs"].as_array().unwrap().len(), 1, "{stored}");
    archive.work().await;
    assert_eq!(archive.documents().await, [("done".to_owned(), None)]);
    assert!(archive.texts().await.iter().any(|text| text.contains("лукошко")), "{:?}", archive.texts().await);
    let document = archive.ask("(select row_to_json(d) from content.documents d where doc_type = 'url')").await;
    assert_eq!((&document["title"], &document["language"]), (&json!("Прайс-лист"), &json!("ru")));
    assert_eq!(archive.count("content.document_sources").await, 1);
    assert_eq!(archive.ask("(select normalized_url from content.urls)").await, json!(url));
    let context = archive
        .ask(
            "(select context from kg.chunks c join content.documents d on d.id = c.document_id
                                 where doc_type = 'url' limit 1)",
        )
        .await;
    assert!(context.as_str().unwrap().contains("Отдел продаж"), "{context}");
}

#[tokio::test]
async fn the_normalizer_answers_with_the_address_and_its_job_and_again_with_the_same() {
    let archive = Archive::new().await;
    let url = archive.page("a", html()).await;
    let first = archive.data("WF30", json!({ "url": format!("{url}#part"), "ctx": ctx() })).await;
    assert_eq!(first["normalized_url"], url);
    let again = archive.data("WF30", json!({ "url": url, "ctx": ctx() })).await;
    assert_eq!(first, again);
    assert_eq!((archive.count("content.urls").await, archive.count("ops.jobs").await), (1, 1));
    for (req, field) in [
        (json!({ "url": "mailto:a@b.c", "ctx": ctx() }), "url"),
        (json!({ "url": url, "ctx": { "visibility": "all" } }), "ctx"),
        (json!({ "url": url, "ctx": { "visibility": "group" } }), "ctx"),
        (json!({ "url": url }), "ctx"),
    ] {
        let (status, body) = archive.call("WF30", req).await;
        assert_eq!((status, &body["error"]["details"]["field"]), (422, &json!(field)), "{body}");
    }
}

#[tokio::test]
async fn the_fetcher_writes_fetch_blob_and_document_and_the_extractor_the_text() {
    let archive = Archive::new().await;
    let url = archive.page("a", html()).await;
    let taken = archive.data("WF30", json!({ "url": url, "ctx": ctx() })).await;
    let fetched = archive.data("WF31", json!({ "url_id": taken["url_id"], "ctx": ctx() })).await;
    assert_eq!(fetched["status"], "pending");
    assert_eq!(archive.count("content.url_fetches").await, 1);
    assert_eq!(archive.count("content.blob_objects").await, 1);
    assert_eq!(archive.count("content.object_garbage").await, 0);
    let extracted = archive.data("WF33", json!({ "document_id": fetched["document_id"] })).await;
    assert_eq!(extracted["status"], "done");
    assert!(extracted["token_count"].as_i64().unwrap() > 20, "{extracted}");
    let chunked = archive.data("WF40", json!({ "document_id": fetched["document_id"] })).await;
    let embedded = archive.data("WF41", json!({ "document_id": fetched["document_id"] })).await;
    assert_eq!(chunked["chunks_created"], embedded["embeddings_upserted"]);
    // Each is as safe to repeat as its job.
    let again = archive.data("WF31", json!({ "url_id": taken["url_id"], "ctx": ctx() })).await;
    assert_eq!((&again["document_id"], &again["url_fetch_id"]), (&fetched["document_id"], &fetched["url_fetch_id"]));
    assert_eq!(archive.data("WF33", json!({ "document_id": fetched["document_id"] })).await, extracted);
    assert_eq!(archive.data("WF41", json!({ "document_id": fetched["document_id"] })).await, embedded);
    assert_eq!(archive.count("content.documents").await, 1);
}

#[tokio::test]
async fn a_page_that_changed_is_a_new_version_and_one_that_did_not_is_asked_for_by_its_tag() {
    let archive = Archive::new().await;
    let url = archive.page("a", html()).await;
    archive.process(&message(1, 1, &url)).await;
    archive.work().await;
    let before = archive.ask("(select version from content.documents where doc_type = 'url')").await;
    archive.advance(2 * 86400);
    let url_id = archive.ask("(select id from content.urls)").await;
    let fetched = archive.data("WF31", json!({ "url_id": url_id, "ctx": ctx() })).await;
    assert_eq!(fetched["status"], "done");
    assert_eq!(archive.ask("(select status_code from content.url_fetches order by id desc limit 1)").await, 304);
    assert_eq!(archive.ask("(select version from content.documents where doc_type = 'url')").await, before);
    archive.advance(2 * 86400);
    let changed = PAGE.replace("лукошко", "туесок");
    archive
        .page("a", json!({ "body": changed, "headers": { "content-type": "text/html; charset=utf-8", "etag": "\"2\"" } }))
        .await;
    archive.data("WF31", json!({ "url_id": url_id, "ctx": ctx() })).await;
    archive.work().await;
    let texts = archive.texts().await.join(" ");
    assert!(texts.contains("туесок") && !texts.contains("лукошко"), "{texts}");
}

#[tokio::test]
async fn a_page_that_changed_and_lost_its_tag_is_not_asked_for_by_the_old_one() {
    let archive = Archive::new().await;
    let url = archive.page("a", html()).await;
    archive.process(&message(1, 1, &url)).await;
    archive.work().await;
    let url_id = archive.ask("(select id from content.urls)").await;
    let untagged =
        json!({ "body": PAGE.replace("лукошко", "туесок"), "headers": { "content-type": "text/html; charset=utf-8" } });
    archive.page("a", untagged).await;
    archive.advance(2 * 86400);
    archive.data("WF31", json!({ "url_id": url_id, "ctx": ctx() })).await;
    // It goes back to what it was, with its tag: that is a change, too.
    archive.page("a", html()).await;
    archive.advance(2 * 86400);
    archive.data("WF31", json!({ "url_id": url_id, "ctx": ctx() })).await;
    archive.work().await;
    assert_eq!(archive.ask("(select status_code from content.url_fetches order by id desc limit 1)").await, 200);
    assert!(archive.texts().await.concat().contains("лукошко"));
}

#[tokio::test]
async fn a_page_that_two_chats_share_is_fetched_once_and_is_a_document_of_each() {
    let archive = Archive::new().await;
    let url = archive.page("a", html()).await;
    archive.process(&message(1, 1, &url)).await;
    let mut private = said(7, &url);
    private["chat"] = json!({ "id": MEMBER, "type": "private", "first_name": "Анна" });
    archive.process(&json!({ "update_id": 2, "message": private })).await;
    archive.work().await;
    assert_eq!(archive.documents().await.len(), 2);
    assert_eq!(archive.count("content.url_fetches").await, 1);
    let owners =
        archive.list("select coalesce(dm_owner_user_id, 0) from content.documents where doc_type = 'url' order by id").await;
    assert_eq!(owners, [json!(0), json!(MEMBER)]);
}

#[tokio::test]
async fn an_edit_that_drops_the_link_drops_its_document_also_while_it_is_fetched() {
    let archive = Archive::new().await;
    let url = archive.page("a", html()).await;
    archive.process(&message(1, 1, &url)).await;
    archive.work().await;
    assert_eq!(archive.documents().await.len(), 1);
    archive.process(&edit(2, 1, "без ссылки", 10)).await;
    assert_eq!(archive.documents().await, []);
    let other = archive.page("b", html()).await;
    archive.process(&message(3, 2, &other)).await;
    archive.process(&edit(4, 2, "передумал", 10)).await;
    archive.work().await;
    assert_eq!(archive.documents().await, []);
    assert!(!archive.texts().await.join(" ").contains("лукошко"));
}

#[tokio::test]
async fn a_forgotten_message_takes_its_page_and_bytes_along_unless_another_message_shares_them() {
    let archive = Archive::new().await;
    let url = archive.page("a", html()).await;
    archive.process(&message(1, 1, &url)).await;
    archive.process(&message(2, 2, &format!("ещё раз {url}"))).await;
    archive.work().await;
    let key = archive.ask("(select object_key from content.blob_objects)").await;
    archive.ask(&format!("knowledge.forget('{}', 'message', {GROUP}, 1, null, 'test')", archive.workspace)).await;
    assert_eq!(archive.documents().await.len(), 1);
    archive.ask(&format!("knowledge.forget('{}', 'message', {GROUP}, 2, null, 'test')", archive.workspace)).await;
    for table in [
        "content.documents",
        "content.urls",
        "content.url_fetches",
        "content.blob_objects",
        "kg.chunks",
        "kg.chunk_embeddings_1536",
    ] {
        assert_eq!(archive.count(table).await, 0, "{table}");
    }
    assert!(archive.knowledge.objects.get(archive.workspace, key.as_str().unwrap()).await.is_ok(), "until its job has run");
    archive.work().await;
    assert!(archive.knowledge.objects.get(archive.workspace, key.as_str().unwrap()).await.is_err());
    assert_eq!(archive.count("content.object_garbage").await, 0);
}

#[tokio::test]
async fn a_page_is_forgotten_in_every_chat_and_the_messages_stay() {
    let archive = Archive::new().await;
    let url = archive.page("a", html()).await;
    archive.process(&message(1, 1, &url)).await;
    archive.work().await;
    let forgotten = archive.ask(&format!("knowledge.forget_url('{}', '{url}', 'test')", archive.workspace)).await;
    assert_eq!(forgotten["documents"], 1);
    assert_eq!((archive.documents().await.len(), archive.count("tg.messages").await), (0, 1));
    assert_eq!(archive.count("content.blob_objects").await, 0);
    let audit = archive.ask("(select to_jsonb(f) from audit.forgettings f)").await.to_string();
    assert!(!audit.contains("web/a"), "{audit}");
}

#[tokio::test]
async fn an_edit_does_not_bring_a_forgotten_page_back_and_a_later_message_does() {
    let archive = Archive::new().await;
    archive.advance(210 * 86_400);
    let url = archive.page("a", html()).await;
    archive.process(&message(1, 1, &url)).await;
    archive.work().await;
    let writer = archive.token(&["write"]).await;
    let what = json!({ "kind": "url", "url": url });
    let (status, answer) = ask(&archive.router, Some(&writer), "POST", "/api/knowledge/forget", Some(&what)).await;
    assert_eq!((status, &answer["data"]["documents"]), (200, &json!(1)), "{answer}");
    archive.process(&edit(2, 1, &format!("и всё же {url}"), 10)).await;
    // Sent before, and late.
    archive.process(&message(3, 2, &url)).await;
    archive.work().await;
    assert_eq!(archive.documents().await, []);
    assert_eq!(archive.ask(&format!("(select exists (select from tg.forgotten f where f::text like '%{url}%'))")).await, false);
    let mut later = message(4, 4, &url);
    later["message"]["date"] = archive.ask("(select extract(epoch from platform.now())::bigint + 5)").await;
    archive.process(&later).await;
    archive.work().await;
    assert_eq!(archive.documents().await, [("done".to_owned(), None)]);
    let (status, _) = ask(
        &archive.router,
        Some(&writer),
        "POST",
        "/api/knowledge/forget",
        Some(&json!({ "kind": "url", "url": "mailto:a@b.c" })),
    )
    .await;
    assert_eq!(status, 422);
}

#[tokio::test]
async fn a_policy_without_fetching_makes_no_job_and_refuses_the_fetcher() {
    let archive = Archive::new().await;
    archive
        .ask(&format!("to_jsonb(knowledge.set_policy('{}', {GROUP}, '{{\"allow_url_fetch\": false}}'))", archive.workspace))
        .await;
    let url = archive.page("a", html()).await;
    let stored = archive.process(&message(1, 1, &url)).await;
    assert_eq!(stored["created_jobs"]["url_jobs"], json!([]));
    let taken = archive.data("WF30", json!({ "url": url, "ctx": ctx() })).await;
    assert_eq!(taken["fetch_job_id"], json!(null));
    let (status, body) = archive.call("WF31", json!({ "url_id": taken["url_id"], "ctx": ctx() })).await;
    assert_eq!((status, &body["error"]["kind"]), (403, &json!("auth")), "{body}");
    assert_eq!(archive.sent("web", "/a").await.len(), 0);
}

#[tokio::test]
async fn an_audience_that_cannot_be_is_not_found() {
    let archive = Archive::new().await;
    let url = archive.page("a", html()).await;
    for bad in [
        json!({ "chat_id": -5, "visibility": "group" }),
        json!({ "chat_id": OUTSIDER, "visibility": "dm", "dm_owner_user_id": OUTSIDER }),
    ] {
        let (status, body) = archive.call("WF30", json!({ "url": url, "ctx": bad })).await;
        assert_eq!(status, 404, "{body}");
    }
    assert_eq!(archive.count("content.urls").await, 0);
}

#[tokio::test]
async fn a_message_of_another_audience_is_no_reason_for_a_page() {
    let archive = Archive::new().await;
    let url = archive.page("a", html()).await;
    let mut private = said(7, &url);
    private["chat"] = json!({ "id": MEMBER, "type": "private", "first_name": "Анна" });
    let stored = archive.process(&json!({ "update_id": 1, "message": private })).await;
    let version = &stored["message_version_id"];
    let foreign = json!({ "chat_id": GROUP, "visibility": "group", "message_version_id": version });
    assert_eq!(archive.call("WF30", json!({ "url": url, "ctx": foreign })).await.0, 404);
    let url_id = archive.ask("(select id from content.urls)").await;
    assert_eq!(archive.call("WF31", json!({ "url_id": url_id, "ctx": foreign })).await.0, 404);
    assert_eq!(archive.documents().await, []);
}

#[tokio::test]
async fn the_policy_of_a_private_chat_is_its_owners() {
    let archive = Archive::new().await;
    archive
        .ask(&format!("to_jsonb(knowledge.set_policy('{}', {MEMBER}, '{{\"allow_url_fetch\": false}}'))", archive.workspace))
        .await;
    let url = archive.page("a", html()).await;
    // The group that is named beside the owner allows it, and does not matter.
    let ctx = json!({ "visibility": "dm", "dm_owner_user_id": MEMBER, "chat_id": GROUP });
    let taken = archive.data("WF30", json!({ "url": url, "ctx": ctx })).await;
    assert_eq!(taken["fetch_job_id"], Value::Null);
    assert_eq!(archive.call("WF31", json!({ "url_id": taken["url_id"], "ctx": ctx })).await.0, 403);
    archive
        .ask(&format!("to_jsonb(knowledge.set_policy('{}', {MEMBER}, '{{\"allow_url_fetch\": true}}'))", archive.workspace))
        .await;
    let taken = archive.data("WF30", json!({ "url": url, "ctx": ctx })).await;
    assert!(taken["fetch_job_id"].is_i64(), "{taken}");
    archive.work().await;
    let audience = archive.ask("(select jsonb_build_array(visibility, dm_owner_user_id, chat_id) from content.documents)").await;
    assert_eq!(audience, json!(["dm", MEMBER, MEMBER]));
}

#[tokio::test]
async fn a_page_that_cannot_be_had_is_an_error_with_a_reason_and_one_that_fails_for_a_while_is_tried_again() {
    let archive = Archive::new().await;
    let gone = archive.page("gone", json!({ "status": 404 })).await;
    let shaky = archive.page("shaky", json!({ "status": 503, "times": 1 })).await;
    archive.process(&message(1, 1, &gone)).await;
    archive.process(&message(2, 2, &shaky)).await;
    archive.work().await;
    let documents = archive.documents().await;
    assert_eq!(documents[0], ("error".to_owned(), Some("the address answered with status 404".to_owned())));
    assert_eq!(documents[1].0, "pending");
    archive.page("shaky", html()).await;
    archive.advance(3600);
    archive.work().await;
    assert_eq!(archive.documents().await[1], ("done".to_owned(), None));
}

#[tokio::test]
async fn an_address_inside_our_own_network_is_never_asked() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "http://127.0.0.1/ и http://169.254.169.254/latest/meta-data")).await;
    archive.work().await;
    archive.advance(7 * 86400);
    for (status, reason) in archive.documents().await {
        assert_eq!(status, "error", "{reason:?}");
        assert!(reason.unwrap().contains("cannot be reached"));
    }
}
