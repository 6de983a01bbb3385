//! What clients use, written from the types of [`crate::contract`]: TypeScript declarations with their constants, JSON Schema and OpenAPI. A
//! test compares the files with what comes out here, so neither can drift.

use std::fmt::Write;

use platform::http::docs;
use serde_json::{Map, Value, json};
use utoipa::OpenApi;

use crate::{
    contract::{
        ACTIONS_LISTED_MAX, ActionAnswer, ActionList, ActionTypeName, BotAction, BotActionStatus, BotActionType, ChatEvent,
        ChatList, ChatMessage, ChatRead, Lang, MessageAnswer, MessageList, MessageRole, NewMessage, NewMessageInChat, Outcome,
        StartAction, TIMEOUT, UpdateAction, default_text, error_text,
    },
    http, scopes,
};

const HEAD: &str = "// Generated from crates/actions/src/contract; see docs/actions.md. Do not edit.\n";

#[derive(OpenApi)]
#[openapi(components(schemas(
    BotAction,
    BotActionStatus,
    BotActionType,
    ActionTypeName,
    ChatMessage,
    MessageRole,
    ChatEvent,
    Outcome,
    StartAction,
    UpdateAction,
    ActionAnswer,
    ActionList,
    NewMessage,
    NewMessageInChat,
    MessageAnswer,
    MessageList,
    ChatRead,
    ChatList
)))]
struct Types;

/// Every file, by its name in `clients/javascript`.
pub fn files() -> [(&'static str, String); 4] {
    [
        ("types.d.ts", types_d_ts()),
        ("types.js", types_js()),
        ("actions.schema.json", json_schema()),
        ("actions.openapi.json", open_api()),
    ]
}

/// The types of the contract by name, each as a schema.
fn schemas() -> Map<String, Value> {
    let mut document = serde_json::to_value(Types::openapi()).unwrap_or_default();
    match document["components"]["schemas"].take() {
        Value::Object(schemas) => schemas,
        _ => Map::new(),
    }
}

/// TypeScript declarations of the types, and of the constants in `types.js`.
pub fn types_d_ts() -> String {
    let mut text = HEAD.to_owned();
    for (name, schema) in &schemas() {
        text.push('\n');
        write_doc(&mut text, "", schema);
        if schema.get("properties").is_some() {
            let _ = writeln!(text, "export interface {name} {}", object(schema, ""));
        } else {
            let _ = writeln!(text, "export type {name} = {};", type_of(schema, ""));
        }
    }
    text.push_str(
        "\nexport declare const botActionTypes: readonly BotActionType[];\n\
         export declare const botActionStatuses: readonly BotActionStatus[];\n\
         export declare const messageRoles: readonly MessageRole[];\n\
         /** Where the lists of actions stop: one that is as long may not be whole. */\n\
         export declare const actionsListedMax: number;\n\
         /** By language, then by `actionType`; `other` is for every other type. */\n\
         export declare const defaultTexts: Record<\"ru\" | \"en\", Record<BotActionType | \"other\", string>>;\n\
         /** By language, then by `payload.code` of an error; `other` is for every other code. */\n\
         export declare const errorTexts: Record<\"ru\" | \"en\", Record<\"timeout\" | \"other\", string>>;\n",
    );
    text
}

/// The constants of the contract: lists and default texts.
pub fn types_js() -> String {
    let list = |names: Vec<&str>| serde_json::to_string(&names).unwrap_or_default().replace(',', ", ");
    let mut text = HEAD.to_owned();
    let _ = writeln!(
        text,
        "\nexport const botActionTypes = Object.freeze({});",
        list(BotActionType::ALL.map(BotActionType::as_str).into())
    );
    let statuses = list(BotActionStatus::ALL.map(BotActionStatus::as_str).into());
    let _ = writeln!(text, "export const botActionStatuses = Object.freeze({statuses});");
    let _ =
        writeln!(text, "export const messageRoles = Object.freeze({});", list(MessageRole::ALL.map(MessageRole::as_str).into()));
    let _ = writeln!(text, "export const actionsListedMax = {ACTIONS_LISTED_MAX};");
    let mut defaults = Map::new();
    let mut errors = Map::new();
    for lang in Lang::ALL {
        let known = BotActionType::ALL.into_iter().map(|known| (known.as_str(), default_text(Some(known), lang)));
        let texts: Map<String, Value> =
            known.chain([("other", default_text(None, lang))]).map(|(name, text)| (name.to_owned(), text.into())).collect();
        defaults.insert(lang.as_str().to_owned(), texts.into());
        let texts = json!({ TIMEOUT: error_text(Some(TIMEOUT), lang), "other": error_text(None, lang) });
        errors.insert(lang.as_str().to_owned(), texts);
    }
    let pretty = |texts: Map<String, Value>| serde_json::to_string_pretty(&texts).unwrap_or_default();
    let _ = writeln!(text, "\nexport const defaultTexts = Object.freeze({});", pretty(defaults));
    let _ = writeln!(text, "\nexport const errorTexts = Object.freeze({});", pretty(errors));
    text
}

/// The types as JSON Schema.
pub fn json_schema() -> String {
    let mut types = Value::Object(schemas());
    docs::to_any_of(&mut types);
    to_json_schema(&mut types);
    let document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Beresta: chats and actions of bots",
        "$comment": "Generated from crates/actions/src/contract. Do not edit.",
        "$defs": types,
    });
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

/// The OpenAPI document of this module alone; the server's own has the other modules too.
pub fn open_api() -> String {
    let mut document = http::Docs::openapi();
    "Beresta: chats and actions of bots".clone_into(&mut document.info.title);
    docs::openapi_json(&document, scopes::ALL) + "\n"
}

/// The same types where JSON Schema keeps them.
fn to_json_schema(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get_mut("$ref") {
                *reference = reference.replace("#/components/schemas/", "#/$defs/");
            }
            map.values_mut().for_each(to_json_schema);
        }
        Value::Array(items) => items.iter_mut().for_each(to_json_schema),
        _ => {}
    }
}

fn write_doc(text: &mut String, indent: &str, schema: &Value) {
    if let Some(doc) = schema["description"].as_str() {
        let _ = writeln!(text, "{indent}/** {} */", doc.split_whitespace().collect::<Vec<_>>().join(" "));
    }
}

/// An object with its fields, each on a line of its own.
fn object(schema: &Value, indent: &str) -> String {
    let inner = format!("{indent}  ");
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut text = "{\n".to_owned();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        write_doc(&mut text, &inner, field);
        let mark = if required.contains(&name.as_str()) { "" } else { "?" };
        let _ = writeln!(text, "{inner}{name}{mark}: {};", type_of(field, &inner));
    }
    text + indent + "}"
}

fn type_of(schema: &Value, indent: &str) -> String {
    let each = |items: &Value, separator: &str| {
        let items = items.as_array().into_iter().flatten().map(|item| type_of(item, indent));
        items.collect::<Vec<_>>().join(separator)
    };
    if let Some(reference) = schema["$ref"].as_str() {
        return reference.rsplit('/').next().unwrap_or_default().to_owned();
    }
    for choices in ["oneOf", "anyOf"] {
        if schema.get(choices).is_some() {
            return each(&schema[choices], " | ");
        }
    }
    if schema.get("allOf").is_some() {
        return each(&schema["allOf"], " & ");
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    match &schema["type"] {
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str).map(|name| plain(name, schema, indent));
            names.collect::<Vec<_>>().join(" | ")
        }
        name => plain(name.as_str().unwrap_or_default(), schema, indent),
    }
}

fn plain(name: &str, schema: &Value, indent: &str) -> String {
    match name {
        "integer" | "number" => "number".to_owned(),
        "array" => format!("{}[]", type_of(&schema["items"], indent)),
        "object" if schema.get("properties").is_some() => object(schema, indent),
        "object" => "Record<string, unknown>".to_owned(),
        "string" | "boolean" | "null" => name.to_owned(),
        _ => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_becomes_the_type_that_it_describes() {
        for (schema, wanted) in [
            (json!({ "$ref": "#/components/schemas/BotAction" }), "BotAction"),
            (json!({ "oneOf": [{ "type": "null" }, { "$ref": "#/components/schemas/Outcome" }] }), "null | Outcome"),
            (json!({ "type": ["string", "null"] }), "string | null"),
            (json!({ "type": "integer", "format": "int64" }), "number"),
            (json!({ "type": "array", "items": { "type": "string" } }), "string[]"),
            (json!({ "type": ["object", "null"] }), "Record<string, unknown> | null"),
            (json!({ "type": "string", "enum": ["a", "b"] }), "\"a\" | \"b\""),
            (
                json!({ "type": "object", "required": ["a"], "properties": { "a": { "type": "string" }, "b": { "type": "boolean" } } }),
                "{\n  a: string;\n  b?: boolean;\n}",
            ),
        ] {
            assert_eq!(type_of(&schema, ""), wanted);
        }
    }

    #[test]
    fn the_declarations_have_the_types_of_the_specification() {
        let text = types_d_ts();
        for part in [
            "export interface BotAction {",
            "  status: BotActionStatus;",
            "  displayText?: string | null;",
            "  payload?: Record<string, unknown> | null;",
            "export type BotActionStatus = \"processing\" | \"done\" | \"error\";",
            "export type BotActionType = \"transcribe_audio\" | \"summarize\" | \"generate_image\" | \"process_file\";",
            "export type ActionTypeName = BotActionType | string;",
            "\"resync\"",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }

    #[test]
    fn the_json_schema_refers_only_to_what_it_has() {
        let schema: Value = serde_json::from_str(&json_schema()).unwrap();
        let text = schema.to_string();
        assert!(!text.contains("#/components/"), "{text}");
        for reference in text.split("\"#/$defs/").skip(1).filter_map(|rest| rest.split_once('"')).map(|(name, _)| name) {
            assert!(schema["$defs"].get(reference).is_some(), "{reference}");
        }
    }
}
