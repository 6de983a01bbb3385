//! A small world: a workspace, people with their tokens, and the planner at nine on a Monday.

use std::ops::Deref;

use kernel::{Bundle, TraceId, WorkspaceId};
use planner::{Applied, Caller, Planner, ReadTool, ToolAnswer, Watch};
use platform::tokens::Principal;
use serde_json::{Map, Value, json};
use uuid::Uuid;

pub(crate) use testkit::code;

/// The module with what it stands on.
pub(crate) const MODULES: &[platform::SqlModule] = &[platform::SQL, planner::SQL];

pub(crate) struct World {
    ground: testkit::World,
    pub(crate) planner: Planner,
}

impl Deref for World {
    type Target = testkit::World;

    fn deref(&self) -> &testkit::World {
        &self.ground
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        let ground = testkit::World::new(MODULES).await;
        let planner = Planner::new(ground.test.db.clone());
        Self { ground, planner }
    }

    /// Another process on the same database: a pool and turns of its own.
    pub(crate) fn another_planner(&self) -> Planner {
        Planner::new(self.test.another())
    }

    /// Somebody of the workspace who may read and write.
    pub(crate) async fn caller(&self, name: &str) -> Caller {
        self.caller_in(self.workspace, name, &[Bundle::Read, Bundle::Write]).await
    }

    pub(crate) async fn caller_in(&self, workspace: WorkspaceId, name: &str, scopes: &[impl AsRef<str>]) -> Caller {
        let principal = principal(workspace, Some(name), scopes);
        self.planner.caller(&principal, TraceId::new()).await.unwrap()
    }

    /// The answer of a preview, whatever it is.
    pub(crate) async fn preview_as(&self, caller: &Caller, actions: &Value) -> ToolAnswer {
        self.planner.preview(caller, &object(json!({ "actions": actions }))).await.unwrap()
    }

    /// A preview that is made.
    pub(crate) async fn preview(&self, caller: &Caller, actions: &Value) -> Value {
        good(&self.preview_as(caller, actions).await)
    }

    /// A preview that is refused.
    pub(crate) async fn refuse(&self, caller: &Caller, actions: &Value) -> Value {
        bad(&self.preview_as(caller, actions).await)
    }

    pub(crate) async fn apply_as(&self, caller: &Caller, preview_id: &str, key: &str) -> ToolAnswer {
        apply(&self.planner, caller, preview_id, key).await
    }

    /// Previews and applies, which both succeed: the answer to the apply.
    pub(crate) async fn change(&self, caller: &Caller, actions: &Value) -> Value {
        let preview = self.preview(caller, actions).await;
        assert!(preview.get("would_fail").is_none(), "{preview}");
        good(&self.apply_as(caller, id_of(&preview), &Uuid::new_v4().to_string()).await)
    }

    /// The preview of an undo, whatever it is.
    pub(crate) async fn undo_as(&self, caller: &Caller, preview_id: &str) -> ToolAnswer {
        self.planner.undo(caller, &object(json!({ "preview_id": preview_id }))).await.unwrap()
    }

    /// Undoes a batch: the answer to the apply.
    pub(crate) async fn undo(&self, caller: &Caller, batch: &Value) -> Value {
        let preview = good(&self.undo_as(caller, id_of(batch)).await);
        good(&self.apply_as(caller, id_of(&preview), &Uuid::new_v4().to_string()).await)
    }

    pub(crate) async fn read(&self, caller: &Caller, tool: ReadTool, arguments: Value) -> Value {
        good(&self.planner.read(caller, tool, &object(arguments)).await.unwrap())
    }

    /// A goal with steps of these titles: its id and theirs.
    pub(crate) async fn goal(&self, caller: &Caller, steps: &[&str]) -> (i64, Vec<i64>) {
        let mut actions = vec![json!({ "action": "goal.create", "client_action_id": "g", "params": { "title": "A goal" } })];
        actions.extend(steps.iter().map(|title| step_in("$ref:g", title)));
        let ids = created(&self.change(caller, &json!(actions)).await);
        (ids[0], ids[1..].to_vec())
    }

    pub(crate) async fn habit(&self, caller: &Caller, params: Value) -> i64 {
        created(&self.change(caller, &json!([{ "action": "habit.create", "params": params }])).await)[0]
    }

    /// The titles of the steps of a goal, in their order, which has no holes.
    pub(crate) async fn steps(&self, goal: i64) -> String {
        let rows =
            self.rows(&format!("select title, \"order\" from planner.steps where goal_id = {goal} order by \"order\"")).await;
        for (place, row) in rows.iter().enumerate() {
            assert_eq!(row["order"], place, "{rows:?}");
        }
        rows.iter().map(|row| row["title"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    /// The sum of the ledger of a person.
    pub(crate) async fn xp(&self, caller: &Caller) -> i64 {
        self.read(caller, ReadTool::GetXp, json!({})).await["total"].as_i64().unwrap()
    }

    /// Everything that people have, without what tells one writing of the same from another.
    pub(crate) async fn everything(&self) -> Value {
        let mut all = Map::new();
        for table in ["goals", "steps", "habits", "marks"] {
            let query = format!("select * from planner.{table} order by 1, 2, 3");
            let mut rows = self.rows(&query).await;
            for row in rows.iter_mut().filter_map(Value::as_object_mut) {
                row.retain(|name, _| !["version", "steps_version", "updated_at", "xp_entry_id"].contains(&name.as_str()));
            }
            all.insert(table.to_owned(), rows.into());
        }
        let xp = self
            .rows("select person_id, sum(amount) as xp from planner.xp_entries group by 1 having sum(amount) <> 0 order by 1")
            .await;
        all.insert("xp".to_owned(), xp.into());
        Value::Object(all)
    }
}

/// What a valid token says.
pub(crate) fn principal(workspace: WorkspaceId, person: Option<&str>, scopes: &[impl AsRef<str>]) -> Principal {
    Principal {
        workspace_id: workspace,
        workspace_name: "team".to_owned(),
        token_id: Uuid::new_v4(),
        token_name: "test".to_owned(),
        scopes: scopes.iter().collect(),
        person: person.map(ToOwned::to_owned),
    }
}

/// Applies with nobody watching.
pub(crate) async fn apply(planner: &Planner, caller: &Caller, preview_id: &str, key: &str) -> ToolAnswer {
    match apply_watched(planner, caller, preview_id, key, &()).await {
        Applied::Answered(answer) => answer,
        Applied::Cancelled => panic!("nobody cancelled it"),
    }
}

pub(crate) async fn apply_watched(planner: &Planner, caller: &Caller, preview_id: &str, key: &str, watch: &dyn Watch) -> Applied {
    let arguments = object(json!({ "preview_id": preview_id, "idempotency_key": key }));
    planner.apply(caller, &arguments, watch).await.unwrap()
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("not an object: {other}"),
    }
}

/// The body of an answer that is no refusal.
pub(crate) fn good(answer: &ToolAnswer) -> Value {
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    assert!(!answer.is_error && body["success"] == true, "{body}");
    body
}

/// The body of a refusal.
pub(crate) fn bad(answer: &ToolAnswer) -> Value {
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    assert!(answer.is_error && body["success"] == false, "{body}");
    body
}

pub(crate) fn id_of(answer: &Value) -> &str {
    answer["preview_id"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// The ids of what a batch created, in the order of its actions.
pub(crate) fn created(applied: &Value) -> Vec<i64> {
    applied["results"].as_array().unwrap().iter().filter_map(|result| result["created_id"].as_i64()).collect()
}

/// An action that makes a step; the goal is an id or a reference.
pub(crate) fn step_in(goal: impl Into<Value>, title: &str) -> Value {
    json!({ "action": "step.create", "params": { "goal_id": goal.into(), "title": title } })
}

/// An action that names one thing and takes nothing else.
pub(crate) fn act(action: &str, id: i64) -> Value {
    let (kind, _) = action.split_once('.').unwrap();
    json!({ "action": action, "params": { (format!("{kind}_id")): id } })
}
