//! The planner in the console: what an assistant changes over MCP is seen by whoever may see it, and by nobody else.

use kernel::{Bundle, Scopes, Secret};
use platform::tokens;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::{
    console::{Browser, Stage},
    support::{client, until},
};

const VERSION: &str = "2026-07-28";

/// Somebody's assistant, which speaks MCP over HTTP.
struct Assistant {
    base: String,
    token: Secret,
}

impl Assistant {
    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let request = client()
            .post(format!("{}/mcp", self.base))
            .bearer_auth(self.token.expose())
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", VERSION)
            .header("mcp-method", "tools/call")
            .header("mcp-name", tool)
            .json(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
        let answer = request.send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        let event = text.lines().filter_map(|line| line.strip_prefix("data:")).rfind(|data| data.contains("\"result\""));
        let message: Value = serde_json::from_str(event.unwrap_or(&text)).unwrap_or_default();
        assert!(status.is_success() && message["error"].is_null(), "{tool}: {status} {text}");
        message["result"]["structuredContent"].clone()
    }

    async fn preview(&self, actions: Value) -> String {
        let said = self.call("preview_actions", json!({ "actions": actions })).await;
        said["preview_id"].as_str().unwrap_or_else(|| panic!("no preview: {said}")).to_owned()
    }

    async fn apply(&self, preview_id: &str) -> Value {
        let key = format!("key-{preview_id}");
        let said = self.call("apply_actions", json!({ "preview_id": preview_id, "idempotency_key": key })).await;
        assert_eq!(said["success"], true, "{said}");
        said
    }

    /// Previews and applies; the ids of what was made, and of the batch.
    async fn change(&self, actions: Value) -> (Vec<i64>, String) {
        let preview_id = self.preview(actions).await;
        let said = self.apply(&preview_id).await;
        let ids = said["results"].as_array().unwrap().iter().filter_map(|result| result["created_id"].as_i64()).collect();
        (ids, preview_id)
    }
}

impl Stage {
    async fn token_of(&self, person: &str, scopes: &Scopes) -> Secret {
        tokens::create(self.db.db.pool(), self.workspace, person, scopes, None, Some(person)).await.unwrap().1
    }

    async fn assistant_of(&self, person: &str) -> Assistant {
        let token = self.token_of(person, &Scopes::from_iter([Bundle::Read, Bundle::Write])).await;
        Assistant { base: self.serving.base.clone(), token }
    }

    /// For pictures: long words, every kind of thing, every state of a preview. Returns the path of the page of one.
    pub(crate) async fn a_plan_with_everything_to_show(&self) -> String {
        let anna = self.assistant_of("Анна").await;
        let unbroken = "безпробелов".repeat(15);
        let step = |title: &str, priority: &str| {
            json!({ "action": "step.create",
                    "params": { "goal_id": "$ref:g", "title": title, "priority": priority, "due_date": "2020-02-29" } })
        };
        let (ids, batch) = anna
            .change(json!([
                { "action": "goal.create", "client_action_id": "g",
                  "params": { "title": format!("Выучить Python {unbroken}"), "description": "слово за словом ".repeat(30), "category": "work",
                              "priority": "critical", "due_date": "2030-01-01" } },
                step("Изучить основы", "low"), step(&unbroken, "critical"), step("Написать первый проект", "medium"),
                { "action": "habit.create", "params": { "title": "Читать двадцать страниц" } },
                { "action": "habit.create", "params": { "title": unbroken, "days": ["mon", "wed", "fri"], "category": "health" } },
            ]))
            .await;
        anna.change(json!([
            { "action": "step.complete", "params": { "step_id": ids[1] } },
            { "action": "habit.mark_completed", "params": { "habit_id": ids[4] } },
        ]))
        .await;
        let (_, done) = anna.change(json!([{ "action": "step.complete", "params": { "step_id": ids[2] } }])).await;
        let undo = anna.call("undo_actions", json!({ "preview_id": done })).await;
        anna.apply(undo["preview_id"].as_str().unwrap()).await;
        let complete = json!({ "action": "step.complete", "params": { "step_id": ids[3] } });
        anna.preview(json!([complete, complete])).await;
        anna.preview(json!([{ "action": "goal.delete", "params": { "goal_id": ids[0] } }])).await;
        anna.call("preview_actions", json!({ "actions": [{ "action": "goal.create", "params": { "titel": unbroken } }] })).await;
        format!("/planner/previews/{batch}")
    }

    async fn open_goals(&self) -> Browser {
        let browser = Browser::open(1280, 900, false).await;
        browser.sign_in(&self.serving.base, self.token.expose()).await;
        browser.text("[data-fragment=health]").await;
        browser.client.goto(&format!("{}/console/planner", self.serving.base)).await.unwrap();
        browser
    }

    /// A page as the holder of a token gets it, without following it to the sign-in.
    async fn page(&self, token: &Secret, path: &str) -> (StatusCode, String) {
        // Made first for what it installs.
        drop(client());
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let request = client.get(format!("{}/console{path}", self.serving.base));
        let answer = request.header("cookie", format!("beresta_token={}", token.expose())).send().await.unwrap();
        (answer.status(), answer.text().await.unwrap())
    }
}

async fn is_live(browser: &Browser) {
    until("the stream is open", async || (browser.text("[data-live]").await == "live").then_some(())).await;
}

async fn shows(browser: &Browser, selector: &str, words: &str) -> String {
    until(words, async || Some(browser.text(selector).await.replace('\u{a0}', " ")).filter(|text| text.contains(words))).await
}

#[tokio::test]
async fn what_an_assistant_previews_and_applies_appears_by_itself_and_so_does_its_undo() {
    let stage = Stage::new().await;
    let browser = stage.open_goals().await;
    let empty = shows(&browser, "[data-fragment=planner]", "No assistant has come yet").await;
    for words in ["beresta token create --workspace shop --scope read,write --person", "/mcp", "BERESTA_TOKEN"] {
        assert!(empty.contains(words), "{words}: {empty}");
    }
    is_live(&browser).await;

    let anna = stage.assistant_of("Anna").await;
    let preview = anna
        .preview(json!([
            { "action": "goal.create", "client_action_id": "g", "params": { "title": "Learn <b>Python</b>", "priority": "high" } },
            { "action": "step.create", "client_action_id": "s", "params": { "goal_id": "$ref:g", "title": "Read the basics" } },
            { "action": "step.create", "params": { "goal_id": "$ref:g", "title": "Write a project" } },
        ]))
        .await;
    let page = shows(&browser, "[data-fragment=planner]", "waits").await;
    assert!(page.contains("There is no goal yet") && page.contains("3 actions") && page.contains("Anna"), "{page}");
    let made = anna.apply(&preview).await;
    let page = shows(&browser, ".goals", "0 of 2 steps").await;
    for words in ["Learn <b>Python</b>", "high", "Read the basics", "Write a project", "open"] {
        assert!(page.contains(words), "{words}: {page}");
    }

    let step = made["results"][1]["created_id"].clone();
    let (_, batch) = anna.change(json!([{ "action": "step.complete", "params": { "step_id": step } }])).await;
    shows(&browser, ".goals", "1 of 2 steps").await;
    assert!(shows(&browser, ".plan-xp", "25 XP").await.contains("25 from steps"));
    assert!(browser.text(".steps .done .step-title").await.contains("Read the basics"));

    browser.client.goto(&format!("{}/console/planner/previews/{batch}", stage.serving.base)).await.unwrap();
    let page = shows(&browser, "main", "What it does, in this order").await;
    for words in [
        "applied",
        "Everything in it was done",
        "step.complete",
        "+25 XP",
        "preview_actions",
        "apply_actions",
        "What was answered",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    is_live(&browser).await;
    let undo = anna.call("undo_actions", json!({ "preview_id": batch })).await;
    let undo = undo["preview_id"].as_str().unwrap().to_owned();
    anna.apply(&undo).await;
    assert!(shows(&browser, "main", "and then undone").await.contains("Undone by"));
    browser.follow(&undo).await;
    let page = shows(&browser, "main", "Undoes").await;
    assert!(page.contains(&batch) && page.contains("\u{2212}25 XP"), "{page}");
    browser.follow("Goals of Anna").await;
    shows(&browser, ".goals", "0 of 2 steps").await;
    shows(&browser, ".plan-xp", "0 XP").await;
}

#[tokio::test]
async fn a_batch_that_would_fail_says_so_and_refused_calls_are_seen_too() {
    let stage = Stage::new().await;
    let anna = stage.assistant_of("Anna").await;
    let (ids, _) = anna
        .change(json!([
            { "action": "goal.create", "client_action_id": "g", "params": { "title": "Goal" } },
            { "action": "step.create", "params": { "goal_id": "$ref:g", "title": "Step" } },
        ]))
        .await;
    let complete = json!({ "action": "step.complete", "params": { "step_id": ids[1] } });
    let preview = anna.preview(json!([complete, complete])).await;
    let refused = anna.call("apply_actions", json!({ "preview_id": preview, "idempotency_key": "k" })).await;
    assert_eq!(refused["error"], "Step already completed", "{refused}");
    let (status, page) = stage.page(&stage.token, &format!("/planner/previews/{preview}")).await;
    assert_eq!(status, StatusCode::OK);
    for words in ["would fail", "If it is applied now, nothing is done", "Step already completed", "refused"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let (_, page) = stage.page(&stage.token, "/planner").await;
    assert!(page.contains("Step already completed") && page.contains("would fail"), "{page}");
    let (_, page) = stage.page(&stage.token, "/planner/previews?status=pending").await;
    assert!(page.contains(&preview), "{page}");
    let (_, page) = stage.page(&stage.token, "/planner/previews?status=expired").await;
    assert!(!page.contains(&preview), "{page}");
}

#[tokio::test]
async fn habits_show_their_streaks_and_days_and_everything_written_is_text() {
    let stage = Stage::new().await;
    let anna = stage.assistant_of("Anna").await;
    let evil = "<script>alert(1)</script>";
    let (ids, _) = anna.change(json!([{ "action": "habit.create", "params": { "title": evil, "category": "<i>c</i>" } }])).await;
    anna.change(json!([{ "action": "habit.mark_completed", "params": { "habit_id": ids[0] } }])).await;
    let (_, page) = stage.page(&stage.token, "/planner").await;
    for words in
        ["1\u{a0}in a row", "1\u{a0}at best", "every day", "done on 1 of 1 days", "<rect class=\"bar-earned\"", "from habits"]
    {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("<script>") && !page.contains("<i>") && !page.contains("style="), "{page}");
    assert_eq!(page.matches(r#"<span class="done""#).count(), 1, "one day of the strip");
}

#[tokio::test]
async fn a_token_that_names_a_person_sees_this_person_alone() {
    let stage = Stage::new().await;
    let (anna, boris) = (stage.assistant_of("Anna").await, stage.assistant_of("Boris").await);
    let goal = |title: &str| json!([{ "action": "goal.create", "params": { "title": title } }]);
    let (_, of_anna) = anna.change(goal("Anna's goal")).await;
    boris.change(goal("Boris's goal")).await;

    let (_, page) = stage.page(&stage.token, "/planner").await;
    assert!(page.contains("Anna&#39;s goal") && !page.contains("Boris&#39;s goal"), "the first one by name: {page}");
    assert!(page.contains(">Anna</option>") && page.contains(">Boris</option>"), "{page}");
    let id = |name: &'static str| {
        let query = "select person_id from planner.people where workspace_id = $1 and name = $2";
        sqlx::query_scalar::<_, i64>(query).bind(stage.workspace.uuid()).bind(name).fetch_one(stage.db.db.pool())
    };
    let (first, second) = (id("Anna").await.unwrap(), id("Boris").await.unwrap());
    let (_, page) = stage.page(&stage.token, &format!("/planner?person={second}")).await;
    assert!(page.contains("Boris&#39;s goal"), "{page}");

    let own = stage.token_of("Boris", &Scopes::from_iter([Bundle::Console])).await;
    let (_, page) = stage.page(&own, "/planner").await;
    assert!(page.contains("Boris&#39;s goal") && !page.contains("Anna"), "{page}");
    for path in
        [format!("/planner?person={first}"), format!("/planner/previews?person={first}"), format!("/planner/previews/{of_anna}")]
    {
        assert_eq!(stage.page(&own, &path).await.0, StatusCode::NOT_FOUND, "{path}");
    }
    let (status, _) = stage.page(&own, &format!("/fragments/planner/previews/{of_anna}")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn another_workspace_sees_nothing_and_without_the_scope_nobody_comes_in() {
    let stage = Stage::new().await;
    let anna = stage.assistant_of("Anna").await;
    let (_, batch) = anna.change(json!([{ "action": "goal.create", "params": { "title": "Secret plan" } }])).await;
    let other = stage.db.workspace("neighbour").await;
    let (_, token) = tokens::create(stage.db.db.pool(), other, "n", &Scopes::all(), None, None).await.unwrap();
    let (status, page) = stage.page(&token, "/planner").await;
    assert!(status == StatusCode::OK && page.contains("No assistant has come yet") && !page.contains("Secret plan"), "{page}");
    assert_eq!(stage.page(&token, &format!("/planner/previews/{batch}")).await.0, StatusCode::NOT_FOUND);
    let (status, _) = stage.page(&anna.token, "/planner").await;
    assert_eq!(status, StatusCode::SEE_OTHER, "an assistant's token does not open the console");
    let (status, _) = stage.page(&anna.token, "/fragments/planner").await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    for path in ["/planner?person=x", "/planner?before=x", "/planner/previews?before=x"] {
        assert!(stage.page(&stage.token, path).await.0.is_client_error(), "{path}");
    }
    assert_eq!(stage.page(&stage.token, "/planner/previews/none").await.0, StatusCode::NOT_FOUND);
}
