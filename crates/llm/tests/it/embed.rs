//! Vectors: batches, order, sizes, encodings.

use kernel::{Category, ErrorKind, ErrorScope};
use llm::{EmbedTask, Embedder, LocalEmbedder, OpenAiEmbedOptions};
use serde_json::{Value, json};

use crate::harness::{Fake, are_in_order, gemini_vectors, numbered, openai_vectors, pointing, told};

fn options() -> OpenAiEmbedOptions {
    OpenAiEmbedOptions::default()
}

#[tokio::test]
async fn a_batch_above_the_limit_of_gemini_is_split_and_the_order_is_kept() {
    let fake = Fake::start(gemini_vectors).await;
    let vectors = fake.gemini_embedder().embed(&numbered(250), EmbedTask::Document).await.unwrap();
    assert_eq!(vectors.len(), 250);
    assert!(are_in_order(&vectors));
    let sizes: Vec<usize> = fake.asked().iter().map(|asked| asked.json()["requests"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [100, 100, 50]);
}

#[tokio::test]
async fn each_text_for_gemini_names_its_model_its_task_and_its_size() {
    let fake = Fake::start(gemini_vectors).await;
    let embedder = fake.gemini_embedder();
    for (task, word) in [(EmbedTask::Document, "RETRIEVAL_DOCUMENT"), (EmbedTask::Query, "RETRIEVAL_QUERY")] {
        embedder.embed(&numbered(2), task).await.unwrap();
        let asked = fake.asked().pop().unwrap();
        assert_eq!(asked.path, "/v1/models/gemini-embedding-001:batchEmbedContents");
        assert_eq!((asked.header("x-goog-api-key"), asked.header("authorization")), (Some("key-of-the-house"), None));
        let item = |text: &str| json!({"model": "models/gemini-embedding-001", "content": {"parts": [{"text": text}]}, "taskType": word, "outputDimensionality": 1536});
        assert_eq!(asked.json(), json!({"requests": [item("text 0"), item("text 1")]}));
    }
}

#[tokio::test]
async fn the_vectors_of_an_openai_server_stand_by_their_index() {
    let fake = Fake::start(|asked| openai_vectors(asked, 1536)).await;
    let embedder = fake.openai_embedder(OpenAiEmbedOptions { batch_max: 3, ..options() });
    let vectors = embedder.embed(&numbered(8), EmbedTask::Document).await.unwrap();
    assert!(vectors.len() == 8 && are_in_order(&vectors));
    let asked = fake.asked();
    assert_eq!((asked.len(), asked[0].path.as_str()), (3, "/v1/embeddings"));
    assert_eq!(asked[0].header("authorization"), Some("Bearer key-of-the-house"));
    let body = json!({"model": "text-embedding-3-small", "input": ["text 6", "text 7"], "dimensions": 1536});
    assert_eq!(asked[2].json(), body);
}

#[tokio::test]
async fn a_server_without_a_key_is_asked_without_one() {
    let fake = Fake::start(|asked| openai_vectors(asked, 1536)).await;
    let settings = llm::OpenAiSettings { key: None, ..fake.openai("m") };
    let embedder = Embedder::from(llm::OpenAiEmbedder::new(settings, options()).unwrap());
    embedder.embed(&numbered(1), EmbedTask::Query).await.unwrap();
    assert_eq!(fake.asked()[0].header("authorization"), None);
}

#[tokio::test]
async fn vectors_may_come_as_base64_and_without_indexes() {
    let fake = Fake::start(|asked| {
        let inputs = asked.json()["input"].as_array().unwrap().clone();
        let vector = |input: &Value| {
            let bytes: Vec<u8> = pointing(input.as_str().unwrap(), 1536).iter().flat_map(|value| value.to_le_bytes()).collect();
            json!({"embedding": base64(&bytes)})
        };
        told(200, &json!({"data": inputs.iter().map(vector).collect::<Vec<_>>()}))
    })
    .await;
    let vectors = fake.openai_embedder(options()).embed(&numbered(3), EmbedTask::Document).await.unwrap();
    assert!(vectors.len() == 3 && are_in_order(&vectors));
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[tokio::test]
async fn a_vector_of_another_size_is_refused_with_what_to_set() {
    let fake = Fake::start(|asked| openai_vectors(asked, 768)).await;
    for (send_dimensions, words) in [(true, "ignored `dimensions`; set `pad_vectors`"), (false, "set `send_dimensions` if")] {
        let embedder = fake.openai_embedder(OpenAiEmbedOptions { send_dimensions, ..options() });
        let error = embedder.embed(&numbered(1), EmbedTask::Document).await.unwrap_err();
        assert_eq!((error.category, error.scope, error.kind), (Category::Permanent, ErrorScope::Platform, ErrorKind::Invalid));
        assert!(error.message.contains("768 numbers, not of 1536") && error.message.contains(words), "{error}");
    }
    assert_eq!(fake.asked()[1].json().get("dimensions"), None);
    let padding = fake.openai_embedder(OpenAiEmbedOptions { send_dimensions: false, pad_vectors: true, ..options() });
    assert!(are_in_order(&padding.embed(&numbered(5), EmbedTask::Document).await.unwrap()), "filled with zeros when asked for");
}

#[tokio::test]
async fn a_server_that_refuses_dimensions_is_told_of_with_what_to_set() {
    let words = "Model \"bge\" does not support matryoshka representation, changing output dimensions will lead to poor results.";
    let fake = Fake::saying(400, json!({"object": "error", "message": words, "type": "BadRequestError", "code": 400})).await;
    let error = fake.openai_embedder(options()).embed(&numbered(1), EmbedTask::Document).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid);
    assert!(error.message.starts_with(words) && error.message.contains("set `send_dimensions` to false"), "{error}");
}

#[tokio::test]
async fn vectors_that_are_not_those_of_the_texts_are_refused() {
    let ones = vec![1.0; 1536];
    let nulls: Vec<Value> = vec![Value::Null; 1536];
    for (body, kind, words) in [
        (json!({"data": [{"index": 0, "embedding": ones}]}), ErrorKind::Unavailable, "2 texts were sent, and 1 vectors"),
        (json!({"data": [{"index": 1, "embedding": ones}, {"index": 1, "embedding": ones}]}), ErrorKind::Unavailable, "indexes"),
        (json!({"data": [{"index": 0, "embedding": ones}, {"embedding": ones}]}), ErrorKind::Unavailable, "indexes"),
        (json!({"data": [{"index": 0, "embedding": ones}, {"index": 1, "embedding": "?"}]}), ErrorKind::Unavailable, "base64"),
        (json!({"data": [{"index": 0, "embedding": ones}, {"index": 1, "embedding": nulls}]}), ErrorKind::Invalid, "text 1"),
        (
            json!({"data": [{"index": 0, "embedding": ones}, {"index": 1, "embedding": vec![0.0; 1536]}]}),
            ErrorKind::Invalid,
            "zero",
        ),
        (json!({"object": "list"}), ErrorKind::Unavailable, "no list of vectors"),
    ] {
        let fake = Fake::saying(200, body).await;
        let error = fake.openai_embedder(options()).embed(&numbered(2), EmbedTask::Document).await.unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.contains(words), "{error}");
    }
}

#[tokio::test]
async fn a_text_that_is_too_long_is_cut_before_it_is_sent() {
    let fake = Fake::start(gemini_vectors).await;
    fake.gemini_embedder().embed(&["слово ".repeat(5000)], EmbedTask::Document).await.unwrap();
    let sent = fake.asked()[0].json()["requests"][0]["content"]["parts"][0]["text"].as_str().unwrap().to_owned();
    assert!((2000..4100).contains(&sent.chars().count()), "{}", sent.chars().count());
    let fake = Fake::start(|asked| openai_vectors(asked, 1536)).await;
    let small = fake.openai_embedder(OpenAiEmbedOptions { input_tokens_max: 10, query_prefix: "query: ".into(), ..options() });
    small.embed(&["ы".repeat(100)], EmbedTask::Query).await.unwrap();
    assert_eq!(fake.asked()[0].json()["input"], json!(["query: ыыыыыыыы"]));
}

#[tokio::test]
async fn texts_that_are_long_together_are_sent_apart() {
    let fake = Fake::start(|asked| openai_vectors(asked, 1536)).await;
    let texts = vec!["ы".repeat(20_000); 90];
    assert_eq!(fake.openai_embedder(options()).embed(&texts, EmbedTask::Document).await.unwrap().len(), 90);
    assert_eq!(fake.asked().len(), 3, "8192 tokens each, and 300000 in a request");
}

#[tokio::test]
async fn an_empty_text_is_refused_by_every_embedder_before_the_call() {
    let fake = Fake::start(gemini_vectors).await;
    let embedders = [fake.gemini_embedder(), fake.openai_embedder(options()), LocalEmbedder::new().into()];
    for embedder in embedders {
        for blank in ["", " \n\t\u{a0}", "\0"] {
            let error = embedder.embed(&["x".into(), blank.into()], EmbedTask::Document).await.unwrap_err();
            assert_eq!((error.kind, error.message.starts_with("text 1 of 2 is empty")), (ErrorKind::Invalid, true), "{error}");
        }
        assert!(embedder.embed(&[], EmbedTask::Document).await.unwrap().is_empty(), "no text, no vector");
    }
    assert!(fake.asked().is_empty());
}

#[tokio::test]
async fn an_embedder_says_in_which_space_its_vectors_are() {
    let fake = Fake::start(gemini_vectors).await;
    let e5 = OpenAiEmbedOptions { document_prefix: "passage: ".into(), query_prefix: "query: ".into(), ..options() };
    for (embedder, provider, model, document, query) in [
        (LocalEmbedder::new().into(), "local", "hashed-words-2", "", ""),
        (fake.gemini_embedder(), "gemini", "gemini-embedding-001", "RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"),
        (fake.openai_embedder(e5), "openai", "text-embedding-3-small", "passage: ", "query: "),
    ] {
        let space = embedder.model();
        assert_eq!((space.provider, space.model.as_str()), (provider, model));
        assert_eq!((space.document_task.as_str(), space.query_task.as_str()), (document, query));
        assert!(space.dimensions == 1536 && space.is_normalised);
    }
}

#[tokio::test]
async fn the_local_embedder_answers_without_anybody() {
    let local = Embedder::from(LocalEmbedder::new());
    let texts = ["доставка".to_owned(), "возврат".to_owned()];
    let vectors = local.embed(&texts, EmbedTask::Document).await.unwrap();
    assert_eq!(vectors[1], LocalEmbedder::new().vector("возврат", EmbedTask::Document));
    assert_eq!(vectors.len(), 2);
}
