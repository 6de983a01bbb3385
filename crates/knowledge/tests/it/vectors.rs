//! WF41: a vector for each chunk, of what it says now; a new model takes over when it is complete.

use llm::{EmbedTask, LocalEmbedder, OpenAiEmbedOptions, OpenAiEmbedder, OpenAiSettings};
use serde_json::json;

use crate::world::{Archive, GROUP, edit, message};

#[tokio::test]
async fn every_chunk_has_one_vector_of_length_one_by_the_active_model() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "Короб из бересты")).await;
    archive.process(&message(2, 2, "Доставка по пятницам")).await;
    archive.work().await;
    assert_eq!(archive.count("kg.chunk_embeddings_1536").await, 2);
    assert_eq!(archive.list("select state from kg.embedding_models").await, [json!("active")]);
    let length = archive.ask("(select round(max(abs(1 - l2_norm(embedding)))::numeric, 3) from kg.chunk_embeddings_1536)").await;
    assert!(length.as_f64().unwrap() < 0.01, "{length}");
    assert_eq!(archive.work().await["picked"], 0);
}

#[tokio::test]
async fn an_edit_leaves_the_vector_of_the_old_text_nowhere() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "старый текст")).await;
    archive.work().await;
    archive.process(&edit(2, 1, "новый текст", 5)).await;
    assert_eq!(archive.count("kg.chunk_embeddings_1536").await, 0);
    archive.work().await;
    assert_eq!(archive.count("kg.chunk_embeddings_1536").await, 1);
    assert_eq!(archive.texts().await, ["новый текст"]);
}

#[tokio::test]
async fn the_vector_of_a_chunk_that_says_something_else_by_now_is_not_stored() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "раз два три")).await;
    archive.work().await;
    let chunk = archive.ask("(select id from kg.chunks)").await;
    let model = archive.ask("(select id from kg.embedding_models)").await;
    let vector = LocalEmbedder::new().vector("чужой", EmbedTask::Document);
    let vector = format!("[{}]", vector.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
    let stored = archive
        .ask(&format!(
            "knowledge.store_embeddings('{}', {model}, array[{chunk}, 999999], array['0', '0'], array['{vector}', '{vector}'])",
            archive.workspace
        ))
        .await;
    assert_eq!(stored, 0);
}

#[tokio::test]
async fn a_model_that_is_not_there_is_not_found_and_a_document_neither() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "раз")).await;
    archive.work().await;
    let document = archive.ask("(select id from content.documents)").await;
    assert_eq!(archive.call("WF41", json!({ "document_id": document, "model_id": 999 })).await.0, 404);
    assert_eq!(archive.call("WF41", json!({ "document_id": 999 })).await.0, 404);
    let model = archive.ask("(select id from kg.embedding_models)").await;
    let other = "insert into kg.embedding_models (workspace_id, provider, model, state)
                 select workspace_id, 'gemini', 'of another day', 'retired' from kg.embedding_models";
    archive.run(other).await;
    let retired = archive.ask("(select id from kg.embedding_models where state = 'retired')").await;
    assert_eq!(archive.call("WF41", json!({ "document_id": document, "model_id": retired })).await.0, 409);
    let data = archive.data("WF41", json!({ "document_id": document, "model_id": model })).await;
    assert_eq!(data, json!({ "document_id": document, "model_id": model, "embeddings_upserted": 1 }));
}

#[tokio::test]
async fn another_model_fills_in_beside_the_old_one_and_takes_over_when_it_is_complete() {
    let mut archive = Archive::new().await;
    for id in 1..6 {
        archive.process(&message(id, id, &format!("запись номер {id}"))).await;
    }
    archive.work().await;
    archive.control("faults", json!({ "provider": "openai", "status": 500, "times": 2 })).await;
    with_openai(&mut archive, "/openai/v1");
    archive.process(&message(6, 6, "запись номер 6")).await;
    archive.work().await;
    let states = "select provider || ' ' || state from kg.embedding_models order by id";
    assert_eq!(archive.list(states).await, [json!("local active"), json!("openai filling")]);
    archive.advance(3600);
    archive.work().await;
    assert_eq!(archive.list(states).await, [json!("local retired"), json!("openai active")]);
    assert_eq!(archive.count("kg.chunk_embeddings_1536").await, 6);
}

/// The other model; under a path that is not there it fails for good.
fn with_openai(archive: &mut Archive, path: &str) {
    let settings =
        OpenAiSettings::new(&format!("{}{path}", archive.base), Some(kernel::Secret::new("sk-test")), "text-embedding-3-small");
    archive.knowledge.embedder = OpenAiEmbedder::new(settings, OpenAiEmbedOptions::default()).expect("an embedder").into();
    archive.rewire();
}

#[tokio::test]
async fn an_embedding_that_gave_up_is_shown_and_asked_for_again() {
    let mut archive = Archive::new().await;
    with_openai(&mut archive, "/nowhere");
    archive.process(&message(1, 1, "без вектора")).await;
    archive.work().await;
    assert_eq!(archive.list("select status from ops.jobs").await, [json!("failed")]);
    with_openai(&mut archive, "/openai/v1");
    archive.advance(3600);
    knowledge::jobs::look_for_vectors(archive.knowledge.clone()).await.unwrap();
    let shown = archive.list("select message from ops.errors where op = 'ask_for_vectors'").await;
    assert_eq!(shown.len(), 1, "{shown:?}");
    archive.work().await;
    assert_eq!(archive.count("kg.chunk_embeddings_1536").await, 1);
    knowledge::jobs::look_for_vectors(archive.knowledge.clone()).await.unwrap();
    assert_eq!(archive.count("ops.jobs").await, 0, "nothing is missing");
}

#[tokio::test]
async fn a_model_whose_filling_gave_up_goes_on_by_itself() {
    let mut archive = Archive::new().await;
    archive.process(&message(1, 1, "запись")).await;
    archive.work().await;
    with_openai(&mut archive, "/nowhere");
    archive.process(&message(2, 2, "ещё запись")).await;
    archive.work().await;
    assert_eq!(archive.ask("(select count(*) from ops.jobs where status = 'failed')").await, 2);
    with_openai(&mut archive, "/openai/v1");
    knowledge::jobs::look_for_vectors(archive.knowledge.clone()).await.unwrap();
    archive.work().await;
    let states = archive.list("select provider || ' ' || state from kg.embedding_models order by id").await;
    assert_eq!(states, [json!("local retired"), json!("openai active")]);
    assert_eq!(archive.count("kg.chunk_embeddings_1536").await, 2);
}

#[tokio::test]
async fn chunks_that_are_being_stored_while_the_policy_forbids_them_leave_with_the_others() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "не найдётся")).await;
    let document = archive.ask("(select id from content.documents)").await;
    let mut storing = archive.test.db.pool().begin().await.unwrap();
    sqlx::query("select knowledge.store_chunks($1, $2, 1, coalesce((select knowledge.document_context(d) from content.documents d), ''), 3, $3, null)")
        .bind(archive.workspace.uuid())
        .bind(document.as_i64())
        .bind(json!([{ "text": "не найдётся", "text_sha256": "0", "start": 0, "end": 11, "mark": null, "terms": "{1:1}/1000000000" }]))
        .execute(&mut *storing)
        .await
        .unwrap();
    let forbid = format!("to_jsonb(knowledge.set_policy('{}', {GROUP}, '{{\"allow_embedding\": false}}'))", archive.workspace);
    let is_over = std::cell::Cell::new(false);
    let end = async {
        while !is_over.get() && archive.ask(crate::world::WAITS).await == false {
            tokio::task::yield_now().await;
        }
        storing.commit().await.unwrap();
    };
    let forbidding = async {
        archive.ask(&forbid).await;
        is_over.set(true);
    };
    tokio::join!(forbidding, end);
    assert_eq!(archive.count("kg.chunks").await, 0);
}

#[tokio::test]
async fn a_chat_whose_policy_allows_no_embedding_has_nothing_to_find_and_gets_it_back_with_the_policy() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "найдётся")).await;
    archive.work().await;
    let set =
        |on: bool| format!("to_jsonb(knowledge.set_policy('{}', {GROUP}, '{{\"allow_embedding\": {on}}}'))", archive.workspace);
    archive.ask(&set(false)).await;
    assert_eq!((archive.count("kg.chunks").await, archive.count("kg.chunk_embeddings_1536").await), (0, 0));
    archive.process(&message(2, 2, "не найдётся")).await;
    archive.work().await;
    assert_eq!(archive.texts().await, [] as [&str; 0]);
    assert_eq!(archive.count("content.documents").await, 2);
    archive.ask(&set(true)).await;
    archive.work().await;
    assert_eq!(archive.texts().await, ["найдётся", "не найдётся"]);
    let refused = archive
        .try_ask(&format!("to_jsonb(knowledge.set_policy('{}', {GROUP}, '{{\"retention_days_raw\": 0}}'))", archive.workspace))
        .await;
    assert_eq!(testkit::code(&refused.unwrap_err()), "ZK001");
}
