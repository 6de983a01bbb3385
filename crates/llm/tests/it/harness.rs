//! A provider that answers as a test says and remembers what it was asked.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::Request,
    http::HeaderMap,
    response::Response,
};
use kernel::Secret;
use llm::{Embedder, GeminiEmbedder, GeminiSettings, OpenAiEmbedOptions, OpenAiEmbedder, OpenAiSettings};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Long enough to be taken for a key, and not known by its looks.
pub(crate) const KEY: &str = "key-of-the-house";

#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Asked {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

pub(crate) struct Told {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<&'static str>,
    pub(crate) body: Vec<u8>,
}

pub(crate) fn told(status: u16, body: &Value) -> Told {
    Told { status, retry_after: None, body: body.to_string().into_bytes() }
}

#[derive(Clone)]
pub(crate) struct Fake {
    pub(crate) base_url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Fake {
    pub(crate) async fn start(answer: impl Fn(&Asked) -> Told + Clone + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let router = Router::new().fallback(move |request: Request| {
            let (seen, answer) = (Arc::clone(&seen), answer.clone());
            async move {
                let (head, body) = request.into_parts();
                let body = axum::body::to_bytes(body, 64 << 20).await.unwrap();
                let asked = Asked { path: head.uri.to_string(), headers: head.headers, body };
                let told = answer(&asked);
                seen.lock().unwrap().push(asked);
                let mut response = Response::builder().status(told.status);
                if let Some(seconds) = told.retry_after {
                    response = response.header("retry-after", seconds);
                }
                response.body(Body::from(told.body)).unwrap()
            }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { base_url, asked }
    }

    /// Says the same to everybody.
    pub(crate) async fn saying(status: u16, body: Value) -> Self {
        Self::start(move |_| told(status, &body)).await
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn gemini(&self, model: &str) -> GeminiSettings {
        GeminiSettings { base_url: self.base_url.clone(), ..GeminiSettings::new(Secret::new(KEY), model) }
    }

    pub(crate) fn openai(&self, model: &str) -> OpenAiSettings {
        OpenAiSettings::new(&self.base_url, Some(Secret::new(KEY)), model)
    }

    pub(crate) fn gemini_embedder(&self) -> Embedder {
        GeminiEmbedder::new(self.gemini("gemini-embedding-001")).unwrap().into()
    }

    pub(crate) fn openai_embedder(&self, options: OpenAiEmbedOptions) -> Embedder {
        OpenAiEmbedder::new(self.openai("text-embedding-3-small"), options).unwrap().into()
    }
}

/// A vector that can be told from others: it points where the first number of the text says.
pub(crate) fn pointing(text: &str, size: usize) -> Vec<f32> {
    let mut vector = vec![0.0; size];
    let number: String = text.chars().skip_while(|letter| !letter.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    vector[number.parse::<usize>().unwrap_or(0)] = 3.0;
    vector
}

pub(crate) fn numbered(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("text {number}")).collect()
}

/// Answers as Gemini does, with vectors that are not normalised.
pub(crate) fn gemini_vectors(asked: &Asked) -> Told {
    let requests = asked.json()["requests"].as_array().unwrap().clone();
    if requests.len() > 100 {
        return told(400, &json!({"error": {"code": 400, "message": "at most 100 requests", "status": "INVALID_ARGUMENT"}}));
    }
    let vector = |request: &Value| {
        let text = request["content"]["parts"][0]["text"].as_str().unwrap();
        json!({"values": pointing(text, usize::try_from(request["outputDimensionality"].as_u64().unwrap()).unwrap())})
    };
    told(200, &json!({"embeddings": requests.iter().map(vector).collect::<Vec<_>>()}))
}

/// Answers as an OpenAI-compatible server whose model has vectors of this size; the last vector comes first.
pub(crate) fn openai_vectors(asked: &Asked, size: usize) -> Told {
    let inputs = asked.json()["input"].as_array().unwrap().clone();
    let vector = |(index, input): (usize, &Value)| json!({"object": "embedding", "index": index, "embedding": pointing(input.as_str().unwrap(), size)});
    let data: Vec<Value> = inputs.iter().enumerate().map(vector).rev().collect();
    told(200, &json!({"object": "list", "model": "m", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}))
}

/// Whether vector `n` points where text `n` says, and has length 1.
pub(crate) fn are_in_order(vectors: &[Vec<f32>]) -> bool {
    vectors.iter().enumerate().all(|(at, vector)| {
        vector.len() == 1536 && (vector[at] - 1.0).abs() < 1e-6 && vector.iter().filter(|value| **value != 0.0).count() == 1
    })
}
