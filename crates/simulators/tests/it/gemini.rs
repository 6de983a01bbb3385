//! Gemini: keys, embeddings, answers, streams, and how it refuses.

use serde_json::{Value, json};

use crate::harness::{Sim, answer};

const EMBEDDING: &str = "gemini-embedding-001";
const FLASH: &str = "gemini-2.5-flash";

async fn call(sim: &Sim, model: &str, method: &str, body: Value) -> (u16, Value) {
    let url = format!("{}/gemini/v1beta/models/{model}:{method}", sim.base);
    answer(sim.client.post(url).header("x-goog-api-key", "AIza-test").json(&body)).await
}

async fn embed(sim: &Sim, model: &str, text: &str, more: Value) -> Vec<f64> {
    let mut body = json!({"content": {"parts": [{"text": text}]}});
    body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    let (status, answer) = call(sim, model, "embedContent", body).await;
    assert_eq!(status, 200, "{answer}");
    answer["embedding"]["values"].as_array().expect("a vector").iter().filter_map(Value::as_f64).collect()
}

fn batch(count: usize) -> Value {
    let item = |index| json!({"model": format!("models/{EMBEDDING}"), "content": {"parts": [{"text": format!("text {index}")}]}});
    json!({"requests": (0..count).map(item).collect::<Vec<_>>()})
}

fn ask(prompt: &str) -> Value {
    json!({"contents": [{"role": "user", "parts": [{"text": prompt}]}]})
}

fn dot(one: &[f64], two: &[f64]) -> f64 {
    one.iter().zip(two).map(|(one, two)| one * two).sum()
}

#[tokio::test]
async fn a_key_is_taken_from_the_header_or_the_query_and_a_bad_one_is_refused() {
    let sim = Sim::start().await;
    let url = format!("{}/gemini/v1beta/models/{FLASH}:generateContent", sim.base);
    let (status, _) = answer(sim.client.post(format!("{url}?key=AIza-test")).json(&ask("hi"))).await;
    assert_eq!(status, 200);
    let (status, body) = answer(sim.client.post(&url).json(&ask("hi"))).await;
    assert_eq!((status, &body["error"]["status"]), (403, &json!("PERMISSION_DENIED")));
    sim.control("tokens", json!({"provider": "gemini", "token": "AIza-test", "valid": false})).await;
    let (status, body) = call(&sim, FLASH, "generateContent", ask("hi")).await;
    assert_eq!((status, &body["error"]["message"]), (400, &json!("API key not valid. Please pass a valid API key.")));
    assert_eq!(body["error"]["details"][0]["reason"], "API_KEY_INVALID");
}

#[tokio::test]
async fn only_the_full_size_of_the_first_model_has_length_1() {
    let sim = Sim::start().await;
    let full = embed(&sim, EMBEDDING, "Delivery takes two days", json!({})).await;
    assert_eq!(full.len(), 3072);
    assert!((dot(&full, &full) - 1.0).abs() < 1e-3);
    let short = embed(&sim, EMBEDDING, "Delivery takes two days", json!({"outputDimensionality": 768})).await;
    assert_eq!(short, full[..768]);
    assert!(dot(&short, &short) < 0.9);
    let second = embed(&sim, "gemini-embedding-2", "Delivery takes two days", json!({"outputDimensionality": 768})).await;
    assert!((dot(&second, &second) - 1.0).abs() < 1e-3);
    assert!(dot(&short, &second).abs() < 0.2, "the models share a space");
}

#[tokio::test]
async fn a_question_is_nearer_to_the_text_that_answers_it() {
    let sim = Sim::start().await;
    let query = embed(&sim, EMBEDDING, "сколько стоит доставка?", json!({"taskType": "RETRIEVAL_QUERY"})).await;
    let document = json!({"taskType": "RETRIEVAL_DOCUMENT", "title": "Условия"});
    let near = embed(&sim, EMBEDDING, "Стоимость доставки по городу — 300 рублей.", document.clone()).await;
    let far = embed(&sim, EMBEDDING, "Гарантия на технику действует два года.", document).await;
    assert!(dot(&query, &near) > dot(&query, &far) + 0.1);
}

#[tokio::test]
async fn a_batch_of_100_comes_back_in_order_and_101_are_refused() {
    let sim = Sim::start().await;
    let (status, body) = call(&sim, EMBEDDING, "batchEmbedContents", batch(100)).await;
    assert_eq!((status, body["embeddings"].as_array().map(Vec::len)), (200, Some(100)));
    let seventh: Vec<f64> = body["embeddings"][7]["values"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    assert_eq!(seventh, embed(&sim, EMBEDDING, "text 7", json!({})).await);
    let (status, body) = call(&sim, EMBEDDING, "batchEmbedContents", batch(101)).await;
    assert_eq!((status, &body["error"]["status"]), (400, &json!("INVALID_ARGUMENT")));
    assert!(body["error"]["message"].as_str().unwrap().contains("at most 100 requests"), "{body}");
}

#[tokio::test]
async fn what_breaks_a_rule_is_an_invalid_argument() {
    let sim = Sim::start().await;
    let text = json!({"parts": [{"text": "x"}]});
    let mut no_model = batch(2);
    no_model["requests"][1].as_object_mut().unwrap().remove("model");
    let mut other_model = batch(2);
    other_model["requests"][1]["model"] = json!("models/gemini-embedding-2");
    for (model, method, body, part) in [
        (EMBEDDING, "batchEmbedContents", no_model, "requests[1].model"),
        (EMBEDDING, "batchEmbedContents", other_model, "requests[1].model"),
        (EMBEDDING, "batchEmbedContents", json!({"requests": []}), "requests"),
        (EMBEDDING, "embedContent", json!({}), "content"),
        (EMBEDDING, "embedContent", json!({"content": {"parts": [{"text": ""}]}}), "content"),
        (EMBEDDING, "embedContent", json!({"content": text, "taskType": "SEARCH"}), "task_type"),
        (EMBEDDING, "embedContent", json!({"content": text, "title": "t", "taskType": "CLUSTERING"}), "title"),
        (EMBEDDING, "embedContent", json!({"content": text, "outputDimensionality": 3073}), "output_dimensionality"),
        (EMBEDDING, "embedContent", json!({"content": text, "dimensions": 5}), "Unknown name \"dimensions\""),
        (FLASH, "generateContent", json!({}), "contents is not specified"),
        (FLASH, "generateContent", json!({"contents": [{"role": "bot", "parts": [{"text": "x"}]}]}), "valid role: user, model"),
        (FLASH, "generateContent", json!({"contents": [{"role": "user", "parts": []}]}), "parts must not be empty"),
        (FLASH, "generateContent", json!({"contents": [text], "generationConfig": {"tmperature": 1}}), "at 'generation_config'"),
        (FLASH, "generateContent", json!({"contents": [text], "generationConfig": {"responseSchema": {}}}), "response_schema"),
    ] {
        let (status, answer) = call(&sim, model, method, body.clone()).await;
        assert_eq!((status, &answer["error"]["status"]), (400, &json!("INVALID_ARGUMENT")), "{body}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(part), "{part}: {answer}");
    }
}

#[tokio::test]
async fn a_model_that_is_not_there_or_cannot_do_it_is_not_found() {
    let sim = Sim::start().await;
    for (model, method) in [
        ("text-embedding-004", "embedContent"),
        (FLASH, "embedContent"),
        (EMBEDDING, "generateContent"),
        ("gpt-4o", "generateContent"),
    ] {
        let (status, body) = call(&sim, model, method, json!({})).await;
        assert_eq!((status, &body["error"]["status"]), (404, &json!("NOT_FOUND")), "{model} {method}");
        let words = format!("models/{model} is not found for API version v1beta, or is not supported for {method}.");
        assert!(body["error"]["message"].as_str().unwrap().starts_with(&words), "{body}");
    }
    // The singular of the batch is a common mistake, and no method.
    let (status, _) = call(&sim, EMBEDDING, "batchEmbedContent", json!({})).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn an_answer_quotes_the_best_source_with_its_number() {
    let sim = Sim::start().await;
    let body = json!({
        "systemInstruction": {"parts": [{"text": "1. Answer from the sources."}]},
        "contents": [{"role": "user", "parts": [{"text":
            "[1] Гарантия — два года.\n[2] Доставка по городу стоит 300 рублей.\n\nВопрос: сколько стоит доставка?"}]}],
    });
    let (status, answer) = call(&sim, FLASH, "generateContent", body).await;
    assert_eq!(status, 200);
    let candidate = &answer["candidates"][0];
    assert_eq!(candidate["content"]["parts"][0]["text"], "Доставка по городу стоит 300 рублей. [2]");
    assert_eq!((&candidate["finishReason"], &candidate["content"]["role"]), (&json!("STOP"), &json!("model")));
    let usage = &answer["usageMetadata"];
    let sum = usage["promptTokenCount"].as_u64().unwrap() + usage["candidatesTokenCount"].as_u64().unwrap();
    assert_eq!(usage["totalTokenCount"], sum);
}

#[tokio::test]
async fn json_has_the_shape_that_was_asked_for() {
    let sim = Sim::start().await;
    let mut body = ask("[7] Delivery takes two days.\n\nQuestion: How long does delivery take?");
    body["generationConfig"] = json!({"responseMimeType": "application/json", "responseSchema": {"type": "OBJECT", "properties": {
        "answer": {"type": "STRING"}, "sources": {"type": "ARRAY", "items": {"type": "INTEGER"}}}}});
    let (_, answer) = call(&sim, FLASH, "generateContent", body).await;
    let said = answer["candidates"][0]["content"]["parts"][0]["text"].as_str().unwrap();
    let said: Value = serde_json::from_str(said).unwrap();
    assert_eq!(said, json!({"answer": "Delivery takes two days. [7]", "sources": [7]}));
}

#[tokio::test]
async fn scripted_answers_come_first_and_in_order() {
    let sim = Sim::start().await;
    sim.control("answers", json!({"provider": "gemini", "text": "one", "times": 2})).await;
    sim.control("answers", json!({"provider": "gemini", "json": {"n": 3}})).await;
    sim.control("answers", json!({"provider": "gemini", "finish": "MAX_TOKENS"})).await;
    sim.control("answers", json!({"provider": "gemini", "blocked": "SAFETY"})).await;
    let mut said = Vec::new();
    for _ in 0..4 {
        let (_, answer) = call(&sim, FLASH, "generateContent", ask("By rule.")).await;
        said.push(answer["candidates"][0].clone());
    }
    assert_eq!(said[0]["content"]["parts"][0]["text"], "one");
    assert_eq!(said[1]["content"]["parts"][0]["text"], "one");
    assert_eq!(said[2]["content"]["parts"][0]["text"], r#"{"n":3}"#);
    assert_eq!((&said[3]["finishReason"], &said[3]["content"]), (&json!("MAX_TOKENS"), &json!({"role": "model"})));
    let (status, blocked) = call(&sim, FLASH, "generateContent", ask("x")).await;
    assert_eq!((status, &blocked["promptFeedback"]["blockReason"]), (200, &json!("SAFETY")));
    assert!(blocked.get("candidates").is_none());
    let (_, answer) = call(&sim, FLASH, "generateContent", ask("By rule.")).await;
    assert_eq!(answer["candidates"][0]["content"]["parts"][0]["text"], "By rule.");
}

#[tokio::test]
async fn an_answer_longer_than_its_budget_is_cut() {
    let sim = Sim::start().await;
    let mut body = ask("A sentence of many words that goes on and on.");
    body["generationConfig"] = json!({"maxOutputTokens": 2});
    let (_, answer) = call(&sim, FLASH, "generateContent", body).await;
    let candidate = &answer["candidates"][0];
    assert_eq!(candidate["finishReason"], "MAX_TOKENS");
    assert_eq!(candidate["content"]["parts"][0]["text"], "A senten");
}

async fn stream(sim: &Sim, query: &str) -> reqwest::Result<String> {
    let url = format!("{}/gemini/v1beta/models/{FLASH}:streamGenerateContent{query}", sim.base);
    let prompt = ask("A long sentence that does not fit into one piece of a stream but into several of them.");
    sim.client.post(url).header("x-goog-api-key", "k").json(&prompt).send().await?.text().await
}

#[tokio::test]
async fn a_stream_is_whole_responses_with_pieces_of_the_text() {
    let sim = Sim::start().await;
    let body = stream(&sim, "?alt=sse").await.unwrap();
    let events: Vec<Value> =
        body.split("\r\n\r\n").filter_map(|event| serde_json::from_str(event.strip_prefix("data: ")?).ok()).collect();
    assert!(events.len() > 2, "{body}");
    let text: String = events.iter().filter_map(|event| event["candidates"][0]["content"]["parts"][0]["text"].as_str()).collect();
    assert_eq!(text, "A long sentence that does not fit into one piece of a stream but into several of them.");
    assert!(events[0]["candidates"][0].get("finishReason").is_none());
    assert_eq!(events.last().unwrap()["candidates"][0]["finishReason"], "STOP");
    let list: Vec<Value> = serde_json::from_str(&stream(&sim, "").await.unwrap()).unwrap();
    assert_eq!(list.len(), events.len());
    sim.control("answers", json!({"provider": "gemini", "text": "a much longer answer than one piece", "cut": true})).await;
    assert!(stream(&sim, "?alt=sse").await.is_err());
}

#[tokio::test]
async fn a_quota_names_the_pause_in_the_body_and_not_in_a_header() {
    let sim = Sim::start().await;
    sim.control("faults", json!({"provider": "gemini", "target": EMBEDDING, "status": 429, "retry_after": 31})).await;
    let url = format!("{}/gemini/v1beta/models/{EMBEDDING}:embedContent", sim.base);
    let body = json!({"content": {"parts": [{"text": "x"}]}});
    let response = sim.client.post(url).header("x-goog-api-key", "k").json(&body).send().await.unwrap();
    assert_eq!((response.status().as_u16(), response.headers().get("retry-after")), (429, None));
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["error"]["status"], "RESOURCE_EXHAUSTED");
    let details = body["error"]["details"].as_array().unwrap();
    assert!(details.iter().any(|detail| detail["retryDelay"] == "31s"), "{body}");
    assert_eq!(embed(&sim, EMBEDDING, "x", json!({})).await.len(), 3072);
}

#[tokio::test]
async fn the_ledger_has_what_was_asked_and_what_was_refused() {
    let sim = Sim::start().await;
    embed(&sim, EMBEDDING, "x", json!({"taskType": "RETRIEVAL_QUERY"})).await;
    call(&sim, "text-embedding-004", "embedContent", json!({})).await;
    let sent = sim.sent(&format!("provider=gemini&target={EMBEDDING}")).await;
    assert_eq!((sent.len(), &sent[0]["method"]), (1, &json!("embedContent")));
    assert_eq!(sent[0]["params"]["taskType"], "RETRIEVAL_QUERY");
    let calls = sim.read("calls?provider=gemini").await;
    let statuses: Vec<&Value> = calls["calls"].as_array().unwrap().iter().map(|call| &call["status"]).collect();
    assert_eq!(statuses, [200, 404]);
    sim.control("reset", json!({})).await;
    assert_eq!(sim.sent("provider=gemini").await, Vec::<Value>::new());
}
