//! The files that clients use are the contract of today.

use std::{fs, path::Path};

use serde_json::json;

use crate::world::World;

#[test]
fn the_generated_files_are_fresh() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/javascript");
    let is_update = std::env::var_os("BERESTA_UPDATE_CONTRACT").is_some();
    for (name, fresh) in actions::generate::files() {
        let path = dir.join(name);
        if is_update {
            fs::create_dir_all(&dir).unwrap();
            fs::write(&path, fresh).unwrap();
            continue;
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == fresh, "clients/javascript/{name} is stale: run `cargo xtask contract` and commit it");
    }
}

/// Validates what is answered against a type of a generated file.
struct Judge {
    document: serde_json::Value,
    place: &'static str,
}

impl Judge {
    fn new(name: &str, place: &'static str) -> Self {
        let (_, text) = actions::generate::files().into_iter().find(|(known, _)| *known == name).unwrap();
        Self { document: serde_json::from_str(&text).unwrap(), place }
    }

    fn holds(&self, name: &str, value: &serde_json::Value) {
        let mut schema = self.document.clone();
        schema["$ref"] = format!("#{}/{name}", self.place).into();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name} in {}: {errors:?}\n{value}", self.place);
    }
}

#[tokio::test]
async fn what_is_answered_and_told_is_what_the_schemas_promise() {
    let world = World::new().await;
    let mut watching = world.watch("c").await;
    let judges = [Judge::new("actions.schema.json", "/$defs"), Judge::new("actions.openapi.json", "/components/schemas")];
    let holds = |name: &str, value: &serde_json::Value| judges.iter().for_each(|judge| judge.holds(name, value));
    for kind in ["summarize", "my_own_type"] {
        let start = json!({ "chatId": "c", "actionId": kind, "actionType": kind, "payload": { "progress": 0.5 } });
        holds("StartAction", &start);
        let (_, answer) = world.post("/api/chat/actions/start", start).await;
        holds("ActionAnswer", &answer["data"]);
        holds("ChatEvent", &watching.next().await.unwrap());
    }
    let update = json!({ "actionId": "summarize", "status": "error", "displayText": "Не вышло" });
    holds("UpdateAction", &update);
    holds("ActionAnswer", &world.post("/api/chat/actions/update", update).await.1["data"]);
    holds("ActionList", &world.get("/api/chat/actions?chatId=c&recent=5").await);
    world.say("c", "hello").await;
    holds("MessageList", &world.get("/api/chats/c/messages").await);
    holds("ChatList", &world.get("/api/chats").await);
    let (_, refused) = world.post("/api/chat/actions/update", json!({ "actionId": "nobody", "status": "done" })).await;
    judges[1].holds("Failure", &refused);
}

#[test]
fn the_document_of_paths_says_something_of_every_answer_and_refers_only_to_what_it_has() {
    let document = Judge::new("actions.openapi.json", "").document;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let responses = operation["responses"].as_object().unwrap();
            assert!(["401", "403", "default"].iter().all(|status| responses.contains_key(*status)), "{method} {path}");
        }
    }
    testkit::openapi::check(&document);
}
