//! A running simulator, a client for it, and a webhook that answers as the test tells it to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use reqwest::multipart::Form;
use serde_json::{Value, json};
use simulators::Simulators;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) const TOKEN: &str = "123456:test-token";
pub(crate) const MAX_TOKEN: &str = "max-test-token";
pub(crate) const CHANNEL: i64 = -1_001_234_567_890;

/// A picture every decoder accepts: one pixel.
pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xff\xff?\0\x05\xfe\x02\xfe\xdc\xccY\xe7\0\0\0\0IEND\xaeB`\x82";

pub(crate) struct Sim {
    pub(crate) base: String,
    pub(crate) client: reqwest::Client,
    _stop: DropGuard,
}

impl Sim {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let stop = CancellationToken::new();
        tokio::spawn(simulators::serve(listener, Simulators::new(), stop.clone()));
        // Whoever is first installs it; all of them want the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        Self { base, client, _stop: stop.drop_guard() }
    }

    pub(crate) fn method_url(&self, method: &str) -> String {
        format!("{}/telegram/bot{TOKEN}/{method}", self.base)
    }

    /// Calls a Telegram method with a JSON body.
    pub(crate) async fn telegram(&self, method: &str, params: Value) -> (u16, Value) {
        answer(self.client.post(self.method_url(method)).json(&params)).await
    }

    /// The result of a call that must succeed.
    pub(crate) async fn telegram_ok(&self, method: &str, params: Value) -> Value {
        let (status, body) = self.telegram(method, params).await;
        assert_eq!((status, &body["ok"]), (200, &json!(true)), "{method}: {body}");
        body["result"].clone()
    }

    /// The description of a call that must be refused.
    pub(crate) async fn telegram_refusal(&self, method: &str, params: Value) -> (u16, String) {
        let (status, body) = self.telegram(method, params).await;
        assert_eq!((&body["ok"], &body["error_code"]), (&json!(false), &json!(status)), "{method}: {body}");
        (status, body["description"].as_str().unwrap_or_default().to_owned())
    }

    pub(crate) async fn telegram_form(&self, method: &str, form: Form) -> (u16, Value) {
        answer(self.client.post(self.method_url(method)).multipart(form)).await
    }

    /// Calls MAX. `path` carries the query.
    pub(crate) async fn max(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let method = reqwest::Method::from_bytes(method.as_bytes()).expect("a method");
        let mut request = self.client.request(method, format!("{}/max{path}", self.base));
        request = request.header("authorization", MAX_TOKEN);
        if let Some(body) = body {
            request = request.json(&body);
        }
        answer(request).await
    }

    /// Sends a MAX message and gives it back as the provider shows it.
    pub(crate) async fn max_send(&self, chat_id: i64, body: Value) -> Value {
        let (status, answer) = self.max("POST", &format!("/messages?chat_id={chat_id}"), Some(body)).await;
        assert_eq!(status, 200, "{answer}");
        answer["message"].clone()
    }

    /// Code and message of a MAX call that must be refused.
    pub(crate) async fn max_refusal(&self, method: &str, path: &str, body: Value) -> (u16, String, String) {
        let (status, answer) = self.max(method, path, Some(body)).await;
        let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
        (status, text("code"), text("message"))
    }

    /// Posts to the control plane; it must agree.
    pub(crate) async fn control(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.control_raw(path, body).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    pub(crate) async fn control_raw(&self, path: &str, body: Value) -> (u16, Value) {
        answer(self.client.post(format!("{}/control/{path}", self.base)).json(&body)).await
    }

    pub(crate) async fn read(&self, path: &str) -> Value {
        let (status, answer) = answer(self.client.get(format!("{}/control/{path}", self.base))).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    pub(crate) async fn sent(&self, query: &str) -> Vec<Value> {
        self.read(&format!("sent?{query}")).await["sent"].as_array().cloned().unwrap_or_default()
    }
}

pub(crate) async fn answer(request: reqwest::RequestBuilder) -> (u16, Value) {
    let response = request.send().await.expect("an answer");
    let status = response.status().as_u16();
    let text = response.text().await.expect("a body");
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

/// A webhook: answers with the statuses it was given, then with 200, and keeps what it got.
pub(crate) struct Hook {
    pub(crate) url: String,
    state: Arc<HookState>,
    _stop: DropGuard,
}

#[derive(Default)]
struct HookState {
    statuses: Mutex<VecDeque<u16>>,
    always: Mutex<Option<u16>>,
    got: Mutex<Vec<(HeaderMap, Value)>>,
    reply: Mutex<Option<Value>>,
    news: Notify,
}

impl Hook {
    pub(crate) async fn start(statuses: &[u16]) -> Self {
        let state = Arc::new(HookState::default());
        state.statuses.lock().expect("unpoisoned").extend(statuses);
        let router = Router::new().route("/hook", post(receive)).with_state(Arc::clone(&state));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        tokio::spawn(async move {
            let serve = axum::serve(listener, router);
            tokio::select! {
                _ = serve => {}
                () = stopped.cancelled() => {}
            }
        });
        Self { url, state, _stop: stop.drop_guard() }
    }

    /// From now on every push is answered with this status.
    pub(crate) fn always(&self, status: u16) {
        *self.state.always.lock().expect("unpoisoned") = Some(status);
    }

    pub(crate) fn reply_with(&self, reply: Value) {
        *self.state.reply.lock().expect("unpoisoned") = Some(reply);
    }

    pub(crate) fn got(&self) -> Vec<(HeaderMap, Value)> {
        self.state.got.lock().expect("unpoisoned").clone()
    }

    /// Waits until that many pushes have come.
    pub(crate) async fn wait_for(&self, count: usize) -> Vec<(HeaderMap, Value)> {
        loop {
            let news = self.state.news.notified();
            let got = self.got();
            if got.len() >= count {
                return got;
            }
            news.await;
        }
    }
}

async fn receive(
    State(state): State<Arc<HookState>>,
    headers: HeaderMap,
    axum::Json(update): axum::Json<Value>,
) -> (StatusCode, axum::Json<Value>) {
    state.got.lock().expect("unpoisoned").push((headers, update));
    let always = *state.always.lock().expect("unpoisoned");
    let next = state.statuses.lock().expect("unpoisoned").pop_front();
    state.news.notify_waiters();
    let status = always.or(next).unwrap_or(200);
    let reply = state.reply.lock().expect("unpoisoned").clone().unwrap_or_default();
    (StatusCode::from_u16(status).expect("a status"), axum::Json(reply))
}
