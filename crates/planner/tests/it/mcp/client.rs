//! A client of MCP over HTTP that is nothing but JSON and headers, so that what is tested is the wire.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicI64, Ordering},
};

use jsonschema::Validator;
use kernel::Secret;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::stage::Stage;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2026-07-28: every request stands alone.
    Modern,
    /// 2025-11-25: a handshake and a session.
    Legacy,
}

impl Era {
    pub(crate) const BOTH: [Self; 2] = [Self::Modern, Self::Legacy];

    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::Modern => "2026-07-28",
            Self::Legacy => "2025-11-25",
        }
    }
}

pub(crate) struct Client {
    pub(crate) era: Era,
    pub(crate) session: Option<String>,
    http: reqwest::Client,
    url: String,
    token: Secret,
    next_id: AtomicI64,
    schemas: OnceCell<HashMap<String, Validator>>,
}

/// What came back for one request.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// The message that answers the request; null when the body was none.
    pub(crate) message: Value,
    /// What came before it on the same stream.
    pub(crate) notifications: Vec<Value>,
}

impl Client {
    /// A client of ann's.
    pub(crate) async fn open(stage: &Stage, era: Era) -> Self {
        Self::open_as(stage, era, &stage.token).await
    }

    pub(crate) async fn open_as(stage: &Stage, era: Era, token: &Secret) -> Self {
        let mut client = Self::unopened(stage, era, token);
        if era == Era::Legacy {
            let hello = json!({ "protocolVersion": era.version(), "capabilities": {}, "clientInfo": info() });
            let response = client.send(1, "initialize", hello).send().await.unwrap();
            assert_eq!(response.status(), 200);
            client.session = Some(response.headers()["mcp-session-id"].to_str().unwrap().to_owned());
            assert_eq!(read(response, 1).await.message["result"]["protocolVersion"], era.version());
            let told = client.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).send().await.unwrap();
            assert_eq!(told.status(), 202);
        }
        client
    }

    /// Before any handshake.
    pub(crate) fn unopened(stage: &Stage, era: Era, token: &Secret) -> Self {
        let next_id = AtomicI64::new(2);
        Self { era, session: None, http: http(), url: stage.url.clone(), token: token.clone(), next_id, schemas: OnceCell::new() }
    }

    pub(crate) fn bare(&self, method: Method) -> RequestBuilder {
        let mut request = self.http.request(method, &self.url).bearer_auth(self.token.expose());
        request =
            request.header("accept", "application/json, text/event-stream").header("mcp-protocol-version", self.era.version());
        match &self.session {
            Some(session) => request.header("mcp-session-id", session),
            None => request,
        }
    }

    pub(crate) fn post(&self, message: &Value) -> RequestBuilder {
        self.bare(Method::POST).json(message)
    }

    /// A request with everything that its era asks for.
    pub(crate) fn send(&self, id: i64, method: &str, mut params: Value) -> RequestBuilder {
        let mut name = None;
        if self.era == Era::Modern {
            name = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str).map(ToOwned::to_owned);
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = self.era.version().into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
            params["_meta"]["io.modelcontextprotocol/clientInfo"] = info();
        }
        let request = self.post(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let request = if self.era == Era::Modern { request.header("mcp-method", method) } else { request };
        match name {
            Some(name) => request.header("mcp-name", name),
            None => request,
        }
    }

    pub(crate) async fn request(&self, method: &str, params: Value) -> Reply {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        read(self.send(id, method, params).send().await.unwrap(), id).await
    }

    /// The result of a request that is answered.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Value {
        let reply = self.request(method, params).await;
        assert!(reply.message["error"].is_null(), "{:?}", reply.message);
        reply.message["result"].clone()
    }

    /// Calls a tool: whether it refused, and what it said. Text and structure have to be the same.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> (bool, Value) {
        let (is_error, text) = self.call_for_text(tool, arguments).await;
        (is_error, serde_json::from_str(&text).unwrap())
    }

    /// The same, to the byte.
    pub(crate) async fn call_for_text(&self, tool: &str, arguments: Value) -> (bool, String) {
        let result = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), result["structuredContent"], "{result}");
        let schema = &self.schemas().await[tool];
        let faults: Vec<String> = schema.iter_errors(&result["structuredContent"]).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{tool} does not keep to its own schema: {faults:?}: {result}");
        (result["isError"].as_bool().unwrap(), text)
    }

    /// What each tool says about its answers.
    async fn schemas(&self) -> &HashMap<String, Validator> {
        let listed = async || {
            let tools = self.ask("tools/list", json!({})).await["tools"].as_array().unwrap().clone();
            let schema = |tool: &Value| {
                let validator = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
                (tool["name"].as_str().unwrap().to_owned(), validator)
            };
            tools.iter().map(schema).collect()
        };
        self.schemas.get_or_init(listed).await
    }

    /// Calls a tool that has to do what it is asked.
    pub(crate) async fn done(&self, tool: &str, arguments: Value) -> Value {
        let (is_error, body) = self.call(tool, arguments).await;
        assert!(!is_error, "{tool}: {body}");
        body
    }

    /// Calls a tool that has to refuse.
    pub(crate) async fn refused(&self, tool: &str, arguments: Value) -> Value {
        let (is_error, body) = self.call(tool, arguments).await;
        assert!(is_error && body["success"] == false, "{tool}: {body}");
        body
    }

    /// The id of a preview of these actions.
    pub(crate) async fn preview(&self, actions: Value) -> String {
        let preview = self.done("preview_actions", json!({ "actions": actions })).await;
        preview["preview_id"].as_str().unwrap().to_owned()
    }

    /// Previews and applies: what apply answered.
    pub(crate) async fn apply(&self, actions: Value) -> Value {
        let preview_id = self.preview(actions).await;
        self.done("apply_actions", json!({ "preview_id": preview_id, "idempotency_key": preview_id })).await
    }

    /// A goal with so many steps: its id and theirs.
    pub(crate) async fn goal(&self, steps: usize) -> (i64, Vec<i64>) {
        let mut actions = vec![json!({ "action": "goal.create", "client_action_id": "g", "params": { "title": "A goal" } })];
        let step = |n: usize| json!({ "action": "step.create", "params": { "goal_id": "$ref:g", "title": format!("Step {n}") } });
        actions.extend((0..steps).map(step));
        let ids = created(&self.apply(json!(actions)).await);
        (ids[0], ids[1..].to_vec())
    }

    pub(crate) async fn xp(&self) -> i64 {
        self.done("get_xp", json!({})).await["total"].as_i64().unwrap()
    }
}

/// The ids of what a batch created, in the order of its actions.
pub(crate) fn created(applied: &Value) -> Vec<i64> {
    applied["results"].as_array().unwrap().iter().filter_map(|result| result["created_id"].as_i64()).collect()
}

pub(crate) async fn read(response: Response, id: i64) -> Reply {
    let status = response.status().as_u16();
    let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned()).unwrap_or_default();
    let text = response.text().await.unwrap();
    if !kind.starts_with("text/event-stream") {
        let message = serde_json::from_str(&text).unwrap_or(Value::Null);
        return Reply { status, message, notifications: Vec::new() };
    }
    let data = text.lines().filter_map(|line| line.strip_prefix("data:")).filter(|data| !data.trim().is_empty());
    let messages = data.map(|data| serde_json::from_str::<Value>(data).unwrap());
    let (mut answers, notifications): (Vec<_>, Vec<_>) = messages.partition(|message| message["id"] == id);
    Reply { status, message: answers.pop().unwrap_or_default(), notifications }
}

fn info() -> Value {
    json!({ "name": "test", "version": "1" })
}

/// An HTTP client; reqwest is built without a default for TLS.
pub(crate) fn http() -> reqwest::Client {
    static CRYPTO: std::sync::Once = std::sync::Once::new();
    CRYPTO.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    reqwest::Client::builder().no_proxy().build().unwrap()
}
