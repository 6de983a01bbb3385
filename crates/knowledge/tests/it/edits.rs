//! WF20 and WF40: versions, whatever their order, and chunks of the latest one.

use serde_json::json;

use crate::world::{Archive, edit, message};

#[tokio::test]
async fn an_edit_leaves_the_index_in_the_transaction_that_stores_it() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "цена 100")).await;
    archive.work().await;
    assert_eq!(archive.texts().await, ["цена 100"]);
    archive.process(&edit(2, 1, "цена 200", 60)).await;
    assert!(archive.texts().await.is_empty(), "the old text is gone before the new one is cut");
    archive.work().await;
    assert_eq!(archive.texts().await, ["цена 200"]);
    assert_eq!(archive.count("tg.message_versions").await, 2);
    assert_eq!(archive.count("content.documents").await, 1, "one document for one message");
}

#[tokio::test]
async fn versions_in_every_order_lead_to_the_same_text() {
    let updates = [message(1, 1, "раз"), edit(2, 1, "два", 10), edit(3, 1, "три", 20)];
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]] {
        let archive = Archive::new().await;
        for at in order {
            archive.process(&updates[at]).await;
            archive.process(&updates[at]).await;
        }
        archive.work().await;
        assert_eq!(archive.texts().await, ["три"], "{order:?}");
        assert_eq!(archive.count("tg.message_versions").await, 3);
        assert_eq!(archive.ask("(select max(version_no) from tg.message_versions)").await, 3);
        assert_eq!(archive.count("tg.messages").await, 1);
    }
}

#[tokio::test]
async fn of_two_versions_of_one_second_the_later_update_is_found_whichever_comes_first() {
    // Sent and edited within a second; edited twice within a second; and back to what it was.
    let cases = [
        vec![message(1, 1, "раз"), edit(2, 1, "два", 0)],
        vec![message(1, 1, "раз"), edit(2, 1, "не это", 10), edit(3, 1, "два", 10)],
        vec![message(1, 1, "раз"), edit(2, 1, "два", 10), edit(3, 1, "не это", 10), edit(4, 1, "два", 10)],
    ];
    for updates in cases {
        for order in [updates.clone(), updates.iter().rev().cloned().collect()] {
            let archive = Archive::new().await;
            for update in &order {
                archive.process(update).await;
            }
            archive.process(&order[0]).await;
            archive.work().await;
            assert_eq!(archive.texts().await, ["два"], "{order:?}");
        }
    }
}

#[tokio::test]
async fn an_edit_to_nothing_takes_the_document_away() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "было")).await;
    archive.work().await;
    archive.process(&edit(2, 1, "", 5)).await;
    assert_eq!(archive.count("content.documents").await, 0);
    assert_eq!(archive.count("kg.chunks").await, 0);
}

#[tokio::test]
async fn cutting_again_gives_the_same_rows_and_a_shorter_text_removes_the_surplus() {
    let archive = Archive::new().await;
    let long = "Первое предложение о договоре. ".repeat(40);
    archive.process(&message(1, 1, &long)).await;
    archive.work().await;
    let rows = "(select jsonb_agg(jsonb_build_array(id, chunk_no, text, start_char, end_char) order by chunk_no) from kg.chunks)";
    let document = archive.ask("(select id from content.documents)").await;
    let first = archive.data("WF40", json!({"document_id": document, "chunking": {"max_chars": 300, "overlap": 30}})).await;
    let before = archive.ask(rows).await;
    let again = archive.data("WF40", json!({"document_id": document, "chunking": {"max_chars": 300, "overlap": 30}})).await;
    assert_eq!((&first, before), (&again, archive.ask(rows).await));
    let fewer = archive.data("WF40", json!({"document_id": document, "chunking": {"max_chars": 1200, "overlap": 120}})).await;
    assert!(fewer["chunks_created"].as_i64() < first["chunks_created"].as_i64());
    assert_eq!(archive.count("kg.chunks").await, fewer["chunks_created"].as_i64().unwrap());
}

#[tokio::test]
async fn a_chunk_stands_where_it_says_and_carries_the_facts_of_its_document() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "Ёлка — это дерево. Вторая фраза.")).await;
    archive.work().await;
    let is_exact = "(select bool_and(c.text = substr(d.text, c.start_char + 1, c.end_char - c.start_char))
                       from kg.chunks c join content.documents d on d.id = c.document_id)";
    assert_eq!(archive.ask(is_exact).await, true);
    let context = archive.ask("(select context from kg.chunks)").await;
    assert!(context.as_str().unwrap().contains("Отдел продаж") && context.as_str().unwrap().contains("Анна"), "{context}");
    assert_eq!(archive.ask("(select token_count > 0 from content.documents)").await, true);
}

#[tokio::test]
async fn chunks_of_a_text_that_changed_meanwhile_change_nothing() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "раз")).await;
    archive.process(&edit(2, 1, "два", 5)).await;
    let stored = archive
        .ask("(select knowledge.store_chunks(workspace_id, id, version - 1, '', 1, '[]', null) from content.documents)")
        .await;
    assert!(stored.is_null(), "{stored}");
}
