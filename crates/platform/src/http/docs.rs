//! The OpenAPI document made whole: what every path has in common is said here, once.

use kernel::{Bundle, Scope};
use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// The document as it is published: with the security scheme and what its scopes allow, with words for every answer, and with the envelope in
/// which a failure comes.
pub fn openapi_json(document: &OpenApi, scopes: &[Scope]) -> String {
    let mut document = serde_json::to_value(document).unwrap_or_default();
    to_any_of(&mut document);
    document["components"]["securitySchemes"]["token"] = json!({
        "type": "http",
        "scheme": "bearer",
        "description": format!("A token of a workspace. What it may do is said by its scopes:\n\n{}", list_scopes(scopes)),
    });
    document["components"]["schemas"]["Failure"] = json!({
        "type": "object",
        "description": "How anything that went wrong is answered.",
        "required": ["ok", "status_code", "data", "error", "meta"],
        "properties": {
            "ok": { "type": "boolean", "const": false },
            "status_code": { "type": "integer" },
            "data": { "type": "null" },
            "error": { "$ref": "#/components/schemas/ErrorBody" },
            "meta": { "$ref": "#/components/schemas/Meta" }
        }
    });
    for path in document["paths"].as_object_mut().into_iter().flat_map(Map::values_mut) {
        for operation in path.as_object_mut().into_iter().flatten().filter(|(name, _)| METHODS.contains(&name.as_str())) {
            describe(operation.1);
        }
    }
    serde_json::to_string_pretty(&document).unwrap_or_default()
}

/// The scopes, a line for each, and then what the bundles have; in Markdown that can be read as it is.
pub fn list_scopes(scopes: &[Scope]) -> String {
    let mut lines: Vec<String> = scopes.iter().map(|scope| format!("- `{}`: {}", scope.name, scope.allows)).collect();
    for bundle in Bundle::ALL {
        let names: Vec<&str> = scopes.iter().filter(|scope| scope.bundles.contains(&bundle)).map(|scope| scope.name).collect();
        if !names.is_empty() {
            lines.push(format!("- `{}`, a bundle: {}", bundle.as_str(), names.join(", ")));
        }
    }
    lines.join("\n")
}

/// Fills in what the answers of one operation leave unsaid.
fn describe(operation: &mut Value) {
    let is_secured = operation.get("security").is_some();
    let Some(responses) = operation["responses"].as_object_mut() else { return };
    if is_secured {
        for status in ["401", "403", "default"] {
            responses.entry(status).or_insert_with(|| json!({}));
        }
    }
    for (status, response) in responses {
        let Some(response) = response.as_object_mut() else { continue };
        let words = response.get("description").and_then(Value::as_str).unwrap_or_default();
        if words.is_empty() {
            response.insert("description".to_owned(), words_for(status).into());
        }
        if !status.starts_with('2') && !response.contains_key("content") {
            let schema = json!({ "schema": { "$ref": "#/components/schemas/Failure" } });
            response.insert("content".to_owned(), json!({ "application/json": schema }));
        }
    }
}

fn words_for(status: &str) -> &'static str {
    match status {
        "200" => "what was asked for",
        "201" => "it is new",
        "202" => "accepted; the work goes on",
        "204" => "done",
        "400" => "the request cannot be read",
        "401" => "the token is missing, not known, revoked or expired",
        "403" => "the token has not the right for this",
        "404" => "there is no such thing in this workspace",
        "409" => "it does not go with what is there already",
        "413" => "the request is too large",
        "422" => "a field cannot be accepted; `error.details.field` names it",
        "429" => "too much at once; `error.details.retry_after_ms` says when to come back",
        "503" => "not now; the same request may succeed later",
        "default" => "any other failure; `error.retryable` says whether the same request may succeed later",
        _ => "see `error`",
    }
}

/// A known type of something is often a text like any other: whatever matches one of the choices is right, also if it matches two.
pub fn to_any_of(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(choices) = map.remove("oneOf") {
                map.insert("anyOf".to_owned(), choices);
            }
            map.values_mut().for_each(to_any_of);
        }
        Value::Array(items) => items.iter_mut().for_each(to_any_of),
        _ => {}
    }
}
