//! The JSON Schema (2020-12) of what `preview_actions` takes, made from the table of actions. Only plain types: clients differ in which
//! formats they know.

use serde_json::{Map, Value, json};

use super::{
    ACTIONS_MAX, CLIENT_ACTION_ID_CHARS_MAX,
    spec::{ACTIONS, ActionSpec, DAYS, ParamSpec, Shape},
};

/// The argument `actions`.
pub fn actions_schema() -> Value {
    let actions: Vec<Value> = ACTIONS.iter().map(action).collect();
    json!({
        "type": "array",
        "minItems": 1,
        "maxItems": ACTIONS_MAX,
        "description": "What to do, strictly in this order, all or nothing.",
        "items": { "oneOf": actions },
    })
}

/// All arguments of `preview_actions`.
pub fn preview_input() -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), json!({ "actions": actions_schema() }));
    schema.insert("required".into(), json!(["actions"]));
    schema.insert("additionalProperties".into(), json!(false));
    schema
}

fn action(spec: &ActionSpec) -> Value {
    let properties: Map<String, Value> =
        spec.params.iter().map(|given| (given.name.to_owned(), param(given, spec.is_update))).collect();
    let required: Vec<&str> = spec.params.iter().filter(|param| param.is_required).map(|param| param.name).collect();
    let mut params = json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    if spec.is_update {
        params["minProperties"] = json!(2);
    }
    json!({
        "type": "object",
        "title": spec.name,
        "description": spec.about,
        "properties": {
            "action": { "type": "string", "const": spec.name },
            "client_action_id": {
                "type": "string",
                "minLength": 1,
                "maxLength": CLIENT_ACTION_ID_CHARS_MAX,
                "description": "Your own name for this action, once in the list; \"$ref:<client_action_id>\" refers to what it creates.",
            },
            "params": params,
        },
        "required": ["action", "params"],
        "additionalProperties": false,
    })
}

fn param(spec: &ParamSpec, is_update: bool) -> Value {
    let plain = match spec.shape {
        Shape::Id(kind) => json!({ "anyOf": [
            { "type": "integer", "minimum": 1 },
            { "type": "string", "pattern": "^\\$ref:.+", "maxLength": 5 + CLIENT_ACTION_ID_CHARS_MAX, "description": format!("A {} that an earlier action of this list creates.", kind.as_str()) },
        ] }),
        Shape::Title { chars_max } => json!({ "type": "string", "minLength": 1, "maxLength": chars_max }),
        Shape::Line { chars_max } | Shape::Text { chars_max } => json!({ "type": "string", "maxLength": chars_max }),
        Shape::Choice(choices) => json!({ "type": "string", "enum": choices }),
        Shape::Date => json!({ "type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2}$" }),
        Shape::Days => json!({ "type": "array", "minItems": 1, "maxItems": 7, "items": { "type": "string", "enum": DAYS } }),
        Shape::Order => json!({ "type": "integer", "minimum": 0 }),
    };
    let mut schema = if spec.is_nullable && is_update { json!({ "anyOf": [plain, { "type": "null" }] }) } else { plain };
    schema["description"] = spec.about.into();
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_has_every_action_with_its_fields_and_only_plain_types() {
        let schema = actions_schema();
        let actions = schema["items"]["oneOf"].as_array().unwrap();
        assert_eq!(actions.len(), ACTIONS.len());
        let reorder = actions.iter().find(|action| action["title"] == "step.reorder").unwrap();
        assert_eq!(reorder["properties"]["params"]["required"], json!(["step_id", "order"]));
        assert_eq!(reorder["properties"]["params"]["properties"]["order"]["type"], "integer");
        assert!(!schema.to_string().contains("\"format\""));
        assert_eq!(preview_input()["required"], json!(["actions"]));
    }
}
