//! OpenAI: keys, embeddings, chat, streams, and how it refuses.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::{Sim, answer};

const SMALL: &str = "text-embedding-3-small";

async fn post(sim: &Sim, path: &str, body: &Value) -> (u16, Value) {
    answer(sim.client.post(format!("{}/openai/v1/{path}", sim.base)).bearer_auth("sk-test").json(body)).await
}

async fn embed(sim: &Sim, body: Value) -> Vec<f64> {
    let (status, answer) = post(sim, "embeddings", &body).await;
    assert_eq!(status, 200, "{answer}");
    answer["data"][0]["embedding"].as_array().expect("a vector").iter().filter_map(Value::as_f64).collect()
}

fn ask(prompt: &str) -> Value {
    json!({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": prompt}]})
}

#[tokio::test]
async fn a_key_is_a_bearer_token_and_a_bad_one_is_refused() {
    let sim = Sim::start().await;
    let (status, body) = answer(sim.client.get(format!("{}/openai/v1/models", sim.base))).await;
    assert_eq!((status, &body["error"]["code"]), (401, &Value::Null));
    let revoked = "sk-a-long-and-revoked-key";
    sim.control("tokens", json!({"provider": "openai", "token": revoked, "valid": false})).await;
    let url = format!("{}/openai/v1/models", sim.base);
    let (status, body) = answer(sim.client.get(&url).bearer_auth(revoked)).await;
    assert_eq!((status, &body["error"]["code"]), (401, &json!("invalid_api_key")));
    assert!(!body.to_string().contains(revoked));
    let (status, body) = answer(sim.client.get(&url).bearer_auth("sk-test")).await;
    assert_eq!((status, &body["object"], &body["data"][0]["object"]), (200, &json!("list"), &json!("model")));
    let (status, body) = answer(sim.client.get(format!("{}/openai/v1/assistants", sim.base)).bearer_auth("k")).await;
    assert_eq!((status, &body["error"]["message"]), (404, &json!("Invalid URL (GET /v1/assistants)")));
}

#[tokio::test]
async fn an_embedding_is_numbers_or_base64_of_the_same() {
    let sim = Sim::start().await;
    let numbers = embed(&sim, json!({"model": SMALL, "input": "Delivery takes two days"})).await;
    assert_eq!(numbers.len(), 1536);
    let body = json!({"model": SMALL, "input": ["x", "Delivery takes two days"], "encoding_format": "base64"});
    let (_, answer) = post(&sim, "embeddings", &body).await;
    assert_eq!((&answer["data"][1]["index"], &answer["data"][1]["object"]), (&json!(1), &json!("embedding")));
    let bytes = STANDARD.decode(answer["data"][1]["embedding"].as_str().unwrap()).unwrap();
    let decoded: Vec<f32> = bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect();
    assert!(decoded.iter().zip(&numbers).all(|(one, two)| (f64::from(*one) - two).abs() < 1e-6));
}

#[tokio::test]
async fn a_shortened_embedding_has_length_1() {
    let sim = Sim::start().await;
    let short = embed(&sim, json!({"model": "text-embedding-3-large", "input": "x y z", "dimensions": 256})).await;
    assert_eq!(short.len(), 256);
    assert!((short.iter().map(|value| value * value).sum::<f64>() - 1.0).abs() < 1e-3);
}

#[tokio::test]
async fn what_breaks_a_rule_of_embeddings_is_refused() {
    let sim = Sim::start().await;
    for (body, status, part) in [
        (json!({"input": "x"}), 400, "you must provide a model parameter"),
        (json!({"model": "text-embedding-9", "input": "x"}), 404, "does not exist"),
        (json!({"model": SMALL}), 400, "Missing required parameter: 'input'."),
        (json!({"model": SMALL, "input": ""}), 400, "'$.input' is invalid"),
        (json!({"model": SMALL, "input": ["x", ""]}), 400, "'$.input' is invalid"),
        (json!({"model": SMALL, "input": []}), 400, "empty array"),
        (json!({"model": SMALL, "input": vec!["x"; 2049]}), 400, "maximum length 2048"),
        (json!({"model": SMALL, "input": "word ".repeat(8000)}), 400, "maximum context length is 8192 tokens"),
        (json!({"model": SMALL, "input": vec!["word ".repeat(6000); 41]}), 400, "300000 tokens per request"),
        (json!({"model": SMALL, "input": "x", "dimensions": 1537}), 400, "dimensions"),
        (
            json!({"model": "text-embedding-ada-002", "input": "x", "dimensions": 5}),
            400,
            "does not support specifying dimensions",
        ),
        (json!({"model": SMALL, "input": "x", "encoding_format": "hex"}), 400, "'float' and 'base64'"),
    ] {
        let (got, answer) = post(&sim, "embeddings", &body).await;
        assert_eq!(got, status, "{part}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(part), "{part}: {answer}");
    }
}

#[tokio::test]
async fn a_chat_quotes_the_best_source_or_says_what_was_scripted() {
    let sim = Sim::start().await;
    let prompt = ask("[1] We open at nine.\n[2] Delivery takes two days.\n\nQuestion: How long does delivery take?");
    let (status, body) = post(&sim, "chat/completions", &prompt).await;
    assert_eq!((status, &body["object"]), (200, &json!("chat.completion")));
    assert_eq!(body["choices"][0]["message"]["content"], "Delivery takes two days. [2]");
    assert_eq!(body["choices"][0]["finish_reason"], "stop");
    sim.control("answers", json!({"provider": "openai", "json": {"a": 1}})).await;
    sim.control("answers", json!({"provider": "openai", "blocked": "I cannot help with that."})).await;
    let (_, body) = post(&sim, "chat/completions", &prompt).await;
    assert_eq!(body["choices"][0]["message"]["content"], r#"{"a":1}"#);
    let (_, body) = post(&sim, "chat/completions", &prompt).await;
    let message = &body["choices"][0]["message"];
    assert_eq!((&message["content"], &message["refusal"]), (&Value::Null, &json!("I cannot help with that.")));
}

#[tokio::test]
async fn a_chat_answers_in_json_of_the_schema() {
    let sim = Sim::start().await;
    let mut body = ask("Answer in JSON.\n[3] Delivery takes two days.\n\nQuestion: How long does delivery take?");
    body["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": {
        "type": "object", "additionalProperties": false, "required": ["text", "sources"],
        "properties": {"text": {"type": "string"}, "sources": {"type": "array", "items": {"type": "integer"}}}}}});
    let (_, answer) = post(&sim, "chat/completions", &body).await;
    let said: Value = serde_json::from_str(answer["choices"][0]["message"]["content"].as_str().unwrap()).unwrap();
    assert_eq!(said, json!({"text": "Delivery takes two days. [3]", "sources": [3]}));
}

#[tokio::test]
async fn what_breaks_a_rule_of_chats_is_refused() {
    let sim = Sim::start().await;
    let with = |more: Value| {
        let mut body = ask("hello");
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    for (body, status, part) in [
        (json!({"messages": []}), 400, "you must provide a model parameter"),
        (with(json!({"model": "gemini-2.5-flash"})), 404, "does not exist"),
        (with(json!({"messages": null})), 400, "Missing required parameter: 'messages'."),
        (with(json!({"messages": []})), 400, "empty array"),
        (with(json!({"messages": [{"role": "bot", "content": "x"}]})), 400, "Invalid value: 'bot'"),
        (with(json!({"response_format": {"type": "json_object"}})), 400, "must contain the word 'json'"),
        (with(json!({"response_format": {"type": "json_schema", "json_schema": {}}})), 400, "json_schema.name"),
        (with(json!({"model": "gpt-5-mini", "max_tokens": 5})), 400, "max_completion_tokens"),
        (with(json!({"stream_options": {"include_usage": true}})), 400, "stream_options"),
    ] {
        let (got, answer) = post(&sim, "chat/completions", &body).await;
        assert_eq!(got, status, "{part}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(part), "{part}: {answer}");
    }
    let url = format!("{}/openai/v1/chat/completions", sim.base);
    let (status, body) = answer(sim.client.post(url).bearer_auth("k").body("{")).await;
    assert_eq!((status, &body["error"]["type"]), (400, &json!("invalid_request_error")));
}

async fn stream(sim: &Sim) -> reqwest::Result<String> {
    let mut body = ask("A long sentence that does not fit into one piece of a stream but into several of them.");
    body["stream"] = json!(true);
    body["stream_options"] = json!({"include_usage": true});
    sim.client.post(format!("{}/openai/v1/chat/completions", sim.base)).bearer_auth("k").json(&body).send().await?.text().await
}

#[tokio::test]
async fn a_stream_ends_with_the_usage_and_the_end_mark() {
    let sim = Sim::start().await;
    let body = stream(&sim).await.unwrap();
    let mut events: Vec<&str> = body.split("\n\n").filter_map(|event| event.strip_prefix("data: ")).collect();
    assert_eq!(events.pop(), Some("[DONE]"));
    let chunks: Vec<Value> = events.iter().map(|event| serde_json::from_str(event).unwrap()).collect();
    let text: String = chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(text, "A long sentence that does not fit into one piece of a stream but into several of them.");
    let last = chunks.last().unwrap();
    assert_eq!((&last["choices"], last["usage"]["total_tokens"].is_u64()), (&json!([]), true));
    sim.control("answers", json!({"provider": "openai", "text": "broken off in the middle", "cut": true})).await;
    assert!(stream(&sim).await.is_err());
}

#[tokio::test]
async fn faults_strike_by_model_and_by_call() {
    let sim = Sim::start().await;
    sim.control("faults", json!({"provider": "openai", "method": "POST /embeddings", "status": 429, "retry_after": 7})).await;
    sim.control("faults", json!({"provider": "openai", "target": "gpt-4o-mini", "drop": "after"})).await;
    let url = format!("{}/openai/v1/embeddings", sim.base);
    let body = json!({"model": SMALL, "input": "x"});
    let response = sim.client.post(url).bearer_auth("k").json(&body).send().await.unwrap();
    assert_eq!((response.status().as_u16(), &response.headers()["retry-after"]), (429, &"7".parse().unwrap()));
    assert_eq!(response.json::<Value>().await.unwrap()["error"]["code"], "rate_limit_exceeded");
    let url = format!("{}/openai/v1/chat/completions", sim.base);
    assert!(sim.client.post(url).bearer_auth("k").json(&ask("x")).send().await.is_err());
    let sent = sim.sent("provider=openai").await;
    assert_eq!((sent.len(), &sent[0]["method"]), (1, &json!("POST /chat/completions")));
    assert_eq!(sent[0]["answered"], false);
    assert_eq!(post(&sim, "chat/completions", &ask("x")).await.0, 200);
}
