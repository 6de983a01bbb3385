//! The tour of the planner: an assistant's session over MCP, as any client would have it: one POST for each request, as the protocol of
//! 2026-07-28 asks.

use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::{Context, Result, ensure};
use kernel::new_id;
use outbound::Reply;
use serde_json::{Value, json};

use super::{Tour, TourReport};

const VERSION: &str = "2026-07-28";

pub(super) async fn play(tour: &Tour, report: &mut TourReport) {
    let mut guest = PlannerGuest { tour, calls: AtomicI64::new(1), goal: 0, steps: Vec::new(), batch: TourBatch::default() };
    report.section("Planner");
    report.check("an assistant finds out what it can do here", guest.discover()).await;
    report.check("a preview of a goal with two steps says what would change, and changes nothing", guest.preview_goal()).await;
    report.check("applying it makes the goal first, then its steps, in their order", guest.apply_goal()).await;
    report.check("a retry with the same key is answered byte for byte the same, and does nothing", guest.retry()).await;
    report.check("another key for the same preview is refused", guest.other_key()).await;
    report.check("a batch that fails in the middle changes nothing", guest.fail_in_the_middle()).await;
    report.check("a preview of what somebody has changed since is stale", guest.stale()).await;
    report.check("a completed step gives its XP", guest.complete()).await;
    report.check("undo takes back exactly that, once", guest.undo()).await;
    report.check("a misspelt field is refused with the name that was meant", guest.misspelt()).await;
    report.check("every call is in the request log, with what came of it", guest.log()).await;
}

/// An applied preview, and the answer to it.
#[derive(Default)]
struct TourBatch {
    preview_id: String,
    key: String,
    answer: String,
}

struct PlannerGuest<'a> {
    tour: &'a Tour,
    calls: AtomicI64,
    goal: i64,
    steps: Vec<i64>,
    batch: TourBatch,
}

/// What a tool said: its JSON, the same as text, and whether it refused.
struct ToolReply {
    json: Value,
    text: String,
    is_error: bool,
}

impl PlannerGuest<'_> {
    /// One request and its result.
    async fn request(&self, method: &str, name: Option<&str>, mut params: Value) -> Result<Value> {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientInfo": { "name": "beresta demo", "version": env!("CARGO_PKG_VERSION") },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let id = self.calls.fetch_add(1, Ordering::Relaxed);
        let client = &self.tour.client;
        let mut request = client
            .request("POST".parse()?, &format!("{}/mcp", self.tour.base))
            .bearer_auth(&self.tour.credentials.token)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", VERSION)
            .header("mcp-method", method);
        if let Some(name) = name {
            request = request.header("mcp-name", name);
        }
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let reply = client.send(request.json(&body)).await?;
        let message = message(&reply).with_context(|| format!("{method} answered {}", reply.status))?;
        ensure!(reply.status == 200 && message["id"] == id && message["error"].is_null(), "{method}: {} {message}", reply.status);
        Ok(message["result"].clone())
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<ToolReply> {
        let result = self.request("tools/call", Some(tool), json!({ "name": tool, "arguments": arguments })).await?;
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        let json = result["structuredContent"].clone();
        ensure!(serde_json::from_str::<Value>(&text).is_ok_and(|said| said == json), "text and structure differ: {result}");
        Ok(ToolReply { json, text, is_error: result["isError"] == true })
    }

    /// A call that must succeed.
    async fn ask(&self, tool: &str, arguments: Value) -> Result<ToolReply> {
        let said = self.call(tool, arguments).await?;
        ensure!(!said.is_error, "{tool}: {}", said.text);
        Ok(said)
    }

    /// A call that must be refused with this error.
    async fn refused(&self, tool: &str, arguments: Value, error: &str) -> Result<ToolReply> {
        let said = self.call(tool, arguments).await?;
        ensure!(said.is_error && said.json["success"] == false, "{tool} was not refused: {}", said.text);
        ensure!(said.json["error"] == error, "{tool}: {} instead of {error}", said.text);
        Ok(said)
    }

    async fn preview(&self, actions: Value) -> Result<ToolReply> {
        self.ask("preview_actions", json!({ "actions": actions })).await
    }

    async fn apply(&self, preview: &ToolReply) -> Result<ToolReply> {
        let key = new_id().to_string();
        self.ask("apply_actions", json!({ "preview_id": preview.json["preview_id"], "idempotency_key": key })).await
    }

    async fn xp(&self) -> Result<i64> {
        let said = self.ask("get_xp", json!({})).await?;
        said.json["total"].as_i64().with_context(|| format!("no total: {}", said.text))
    }

    async fn goal(&self) -> Result<Value> {
        Ok(self.ask("get_goal", json!({ "goal_id": self.goal })).await?.json["goal"].clone())
    }

    fn step(&self, place: usize) -> Result<i64> {
        self.steps.get(place).copied().context("the steps were not made")
    }

    async fn discover(&self) -> Result<String> {
        let found = self.request("server/discover", None, json!({})).await?;
        ensure!(found["supportedVersions"].as_array().is_some_and(|all| all.iter().any(|one| one == VERSION)), "{found}");
        let listed = self.request("tools/list", None, json!({})).await?;
        let tools: Vec<&str> =
            listed["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
        for tool in ["preview_actions", "apply_actions", "undo_actions", "get_xp"] {
            ensure!(tools.contains(&tool), "no {tool} among {tools:?}");
        }
        Ok(format!("protocol {VERSION}, {} tools", tools.len()))
    }

    async fn preview_goal(&mut self) -> Result<String> {
        let count = async || -> Result<usize> {
            let listed = self.ask("list_goals", json!({ "status": "open", "limit": 100 })).await?;
            Ok(listed.json["goals"].as_array().map_or(0, Vec::len))
        };
        let before = count().await?;
        let preview = self
            .preview(json!([
                { "action": "goal.create", "client_action_id": "goal", "params": { "title": "Выучить Python", "category": "work" } },
                { "action": "step.create", "client_action_id": "step-1", "params": { "goal_id": "$ref:goal", "title": "Изучить основы" } },
                { "action": "step.create", "client_action_id": "step-2",
                  "params": { "goal_id": "$ref:goal", "title": "Написать первый проект" } },
            ]))
            .await?;
        ensure!(preview.json["actions"][0]["id"] == "$ref:goal", "{}", preview.text);
        ensure!(count().await? == before, "there is one goal more already");
        preview.json["preview_id"].as_str().context("no preview_id")?.clone_into(&mut self.batch.preview_id);
        let diff = preview.json["diff"].as_str().unwrap_or_default();
        Ok(format!("“{}”", diff.lines().next().unwrap_or("?")))
    }

    async fn apply_goal(&mut self) -> Result<String> {
        self.batch.key = new_id().to_string();
        let said =
            self.ask("apply_actions", json!({ "preview_id": self.batch.preview_id, "idempotency_key": self.batch.key })).await?;
        let results = said.json["results"].as_array().cloned().unwrap_or_default();
        let ids: Vec<i64> = results.iter().filter_map(|result| result["created_id"].as_i64()).collect();
        let names: Vec<&str> = results.iter().filter_map(|result| result["client_action_id"].as_str()).collect();
        ensure!(names == ["goal", "step-1", "step-2"] && ids.len() == 3, "{}", said.text);
        self.goal = ids[0];
        self.steps = ids[1..].to_vec();
        self.batch.answer = said.text;
        let goal = self.goal().await?;
        let steps: Vec<i64> =
            goal["steps"].as_array().into_iter().flatten().filter_map(|step| step["step_id"].as_i64()).collect();
        ensure!(steps == self.steps, "{goal}");
        Ok(format!("goal {} with the steps {} and {}", ids[0], ids[1], ids[2]))
    }

    async fn retry(&self) -> Result<String> {
        let said =
            self.ask("apply_actions", json!({ "preview_id": self.batch.preview_id, "idempotency_key": self.batch.key })).await?;
        ensure!(
            !self.batch.answer.is_empty() && said.text == self.batch.answer,
            "{} instead of {}",
            said.text,
            self.batch.answer
        );
        ensure!(self.goal().await?["steps"].as_array().map(Vec::len) == Some(2), "it was done twice");
        Ok(format!("the same {} bytes", said.text.len()))
    }

    async fn other_key(&self) -> Result<String> {
        let arguments = json!({ "preview_id": self.batch.preview_id, "idempotency_key": new_id().to_string() });
        let said = self.refused("apply_actions", arguments, "Preview already applied").await?;
        Ok(format!("“{}”", said.json["error"].as_str().unwrap_or("?")))
    }

    async fn fail_in_the_middle(&self) -> Result<String> {
        let (step, before) = (self.step(0)?, self.xp().await?);
        let complete = json!({ "action": "step.complete", "params": { "step_id": step } });
        let retitle = json!({ "action": "step.update", "params": { "step_id": self.step(1)?, "title": "never reached" } });
        let preview = self.preview(json!([complete, complete, retitle])).await?;
        ensure!(preview.json["would_fail"]["error"] == "Step already completed", "{}", preview.text);
        let arguments = json!({ "preview_id": preview.json["preview_id"], "idempotency_key": new_id().to_string() });
        let said = self.refused("apply_actions", arguments, "Step already completed").await?;
        let results = &said.json["results"];
        ensure!(
            results[0]["rollback"] == true && results[1]["success"] == false && results[2]["not_reached"] == true,
            "{}",
            said.text
        );
        let goal = self.goal().await?;
        ensure!(goal["steps"][0]["completed_at"].is_null(), "the step is done: {goal}");
        ensure!(self.xp().await? == before, "XP was given");
        Ok("done and rolled back, failed, not reached; the step is open and no XP was given".to_owned())
    }

    async fn stale(&self) -> Result<String> {
        let step = self.step(0)?;
        let first = self.preview(json!([{ "action": "step.complete", "params": { "step_id": step } }])).await?;
        let title = json!({ "step_id": step, "title": "Изучить основы языка" });
        let second = self.preview(json!([{ "action": "step.update", "params": title }])).await?;
        self.apply(&second).await?;
        let arguments = json!({ "preview_id": first.json["preview_id"], "idempotency_key": new_id().to_string() });
        let said = self.refused("apply_actions", arguments, "Preview stale").await?;
        let stale = &said.json["stale"][0];
        ensure!(stale["entity"] == "step" && stale["id"] == step, "{}", said.text);
        Ok(format!("step {step} went from version {} to {}", stale["previewed_version"], stale["current_version"]))
    }

    async fn complete(&mut self) -> Result<String> {
        let before = self.xp().await?;
        let preview = self.preview(json!([{ "action": "step.complete", "params": { "step_id": self.step(0)? } }])).await?;
        let said = self.apply(&preview).await?;
        ensure!(said.json["xp"]["change"] == 25 && self.xp().await? == before + 25, "{} from {before}", said.text);
        preview.json["preview_id"].as_str().unwrap_or_default().clone_into(&mut self.batch.preview_id);
        Ok(format!("{before} + 25 = {}", before + 25))
    }

    async fn undo(&self) -> Result<String> {
        let before = self.xp().await?;
        let preview = self.ask("undo_actions", json!({ "preview_id": self.batch.preview_id })).await?;
        ensure!(preview.json["xp"]["change"] == -25, "{}", preview.text);
        self.apply(&preview).await?;
        ensure!(self.xp().await? == before - 25, "the XP is still there");
        ensure!(self.goal().await?["steps"][0]["completed_at"].is_null(), "the step is still done");
        let again = self.call("undo_actions", json!({ "preview_id": self.batch.preview_id })).await?;
        ensure!(again.is_error, "it was undone twice: {}", again.text);
        Ok(format!("{before} − 25 = {}; a second time “{}”", before - 25, again.json["error"].as_str().unwrap_or("?")))
    }

    async fn misspelt(&self) -> Result<String> {
        let actions = json!([{ "action": "goal.create", "params": { "titel": "Выучить Rust" } }]);
        let said = self.call("preview_actions", json!({ "actions": actions })).await?;
        let error = said.json["error"].as_str().unwrap_or_default().to_owned();
        ensure!(said.is_error && error.contains("titel") && said.text.contains("`title`"), "{}", said.text);
        Ok(format!("“{error}”"))
    }

    async fn log(&self) -> Result<String> {
        let query = "select count(*), count(execution_time_ms), count(error_message) from planner.mcp_request_log
                      where request_body->'arguments'->>'preview_id' = $1 or response_body->>'preview_id' = $1";
        let mut tx = self.tour.app.db.begin(self.tour.credentials.workspace_id).await?;
        let (calls, answered, refused): (i64, i64, i64) =
            sqlx::query_as(query).bind(&self.batch.preview_id).fetch_one(&mut *tx).await?;
        // Its preview, its apply, its undo, and the undo that was refused.
        ensure!(calls == 4 && answered == 4 && refused == 1, "{calls} calls, {answered} answered, {refused} refused");
        Ok(format!("{calls} calls about one preview, all answered, {refused} refused"))
    }
}

/// The message of an answer: plain JSON, or the one event of a stream that has an id.
fn message(reply: &Reply) -> Option<Value> {
    if let Some(json) = reply.json() {
        return Some(json);
    }
    let text = std::str::from_utf8(&reply.body).ok()?;
    let mut events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data:")?.trim()).ok());
    events.rfind(|message| !message["id"].is_null())
}
