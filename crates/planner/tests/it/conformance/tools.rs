//! The fixture tools that answer in one round.

#![expect(deprecated, reason = "the suite asks older revisions for logging")]

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock, CustomRequest, JsonObject,
        LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ResourceContents, ServerRequest, Tool,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{
    fixtures::{Change, Fixtures},
    rounds,
};

/// One red point.
pub(super) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
/// A millisecond of silence.
const WAV: &str = "UklGRjQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YRAAAAAAAAAAAAAAAAAAAAAAAAAA";

const PLAIN: [&str; 14] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
    "test_tool_with_logging",
    "test_logging_tool",
    "test_missing_capability",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
];

pub(super) fn list() -> Vec<Tool> {
    let plain = PLAIN.iter().chain(rounds::NAMES).map(|&name| tool(name, json!({ "type": "object" })));
    let text = |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
    let header = json!({ "type": "object", "properties": { "value": { "type": "string", "x-mcp-header": "Value" } } });
    let others = [
        tool("test_sampling", text("prompt")),
        tool("test_elicitation", text("message")),
        tool("test_custom_header", header),
        tool("json_schema_2020_12_tool", schema_2020_12()),
    ];
    plain.chain(others).collect()
}

fn tool(name: &'static str, schema: Value) -> Tool {
    let Value::Object(schema) = schema else { panic!("the schema of {name} is no object") };
    Tool::new(name, "A fixture of the conformance suite.", schema)
}

/// The keywords that a server has to leave as they are.
fn schema_2020_12() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": {
            "$anchor": "addressDef", "type": "object",
            "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
        } },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

pub(super) async fn call(
    fixtures: &Fixtures,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let told = match request.name.as_ref() {
        "test_simple_text" => vec![ContentBlock::text("This is a simple text response for testing.")],
        "test_image_content" => vec![ContentBlock::image(PNG, "image/png")],
        "test_audio_content" => vec![ContentBlock::audio(WAV, "audio/wav")],
        "test_embedded_resource" => {
            vec![ContentBlock::embedded_text("test://embedded-resource", "This is an embedded resource content.")]
        }
        "test_multiple_content_types" => {
            let json = ResourceContents::text(r#"{"test":"data","value":123}"#, "test://mixed-content-resource");
            vec![
                ContentBlock::text("Multiple content types test:"),
                ContentBlock::image(PNG, "image/png"),
                ContentBlock::resource(json.with_mime_type("application/json")),
            ]
        }
        "test_error_handling" => {
            let words = ContentBlock::text("This tool intentionally returns an error for testing");
            return Ok(CallToolResult::error(vec![words]).into());
        }
        "test_tool_with_progress" => {
            if let Some(token) = context.meta.get_progress_token() {
                for progress in [0.0, 50.0, 100.0] {
                    let step = ProgressNotificationParam::new(token.clone(), progress).with_total(100.0);
                    let _ = context.peer.notify_progress(step).await;
                }
            }
            said("Progress was told.")
        }
        "test_tool_with_logging" => {
            for words in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, words.into());
                let _ = context.peer.notify_logging_message(message).await;
            }
            said("Logged.")
        }
        "test_missing_capability" => {
            if !has_capability(context, "sampling") {
                let required: ClientCapabilities = serde_json::from_value(json!({ "sampling": {} })).unwrap();
                return Err(ErrorData::missing_required_client_capability(required));
            }
            said("The client can sample.")
        }
        "test_trigger_tool_change" => changed(fixtures, Change::Tools),
        "test_trigger_prompt_change" => changed(fixtures, Change::Prompts),
        "test_sampling" => sample(request, context).await?,
        "test_elicitation" => {
            let message = argument(request, "message");
            let properties = json!({
                "username": { "type": "string", "description": "User's response" },
                "email": { "type": "string", "description": "User's email address" },
            });
            elicit(context, &message, &properties, &["username", "email"]).await?
        }
        "test_elicitation_sep1034_defaults" => elicit(context, "Defaults", &defaults(), &[]).await?,
        "test_elicitation_sep1330_enums" => elicit(context, "Enums", &enums(), &[]).await?,
        // `test_logging_tool` among them: it logs to nobody who did not ask for it, and nobody asks.
        _ => said("Done."),
    };
    Ok(CallToolResult::success(told).into())
}

fn said(words: &str) -> Vec<ContentBlock> {
    vec![ContentBlock::text(words)]
}

fn changed(fixtures: &Fixtures, change: Change) -> Vec<ContentBlock> {
    let _ = fixtures.changes.send(change);
    said("Changed.")
}

fn argument(request: &CallToolRequestParams, name: &str) -> String {
    let value = request.arguments.as_ref().and_then(|arguments: &JsonObject| arguments.get(name));
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

pub(super) fn has_capability(context: &RequestContext<RoleServer>, name: &str) -> bool {
    let declared = serde_json::to_value(context.client_capabilities()).unwrap();
    declared[name].is_object()
}

async fn sample(request: &CallToolRequestParams, context: &RequestContext<RoleServer>) -> Result<Vec<ContentBlock>, ErrorData> {
    let prompt = json!({ "type": "text", "text": argument(request, "prompt") });
    let params = json!({ "messages": [{ "role": "user", "content": prompt }], "maxTokens": 100 });
    let answer = ask(context, "sampling/createMessage", params).await?;
    Ok(said(&format!("LLM response: {}", answer["content"]["text"].as_str().unwrap_or_default())))
}

async fn elicit(
    context: &RequestContext<RoleServer>,
    message: &str,
    properties: &Value,
    required: &[&str],
) -> Result<Vec<ContentBlock>, ErrorData> {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    let answer = ask(context, "elicitation/create", json!({ "message": message, "requestedSchema": schema })).await?;
    let words =
        format!("Elicitation completed: action={}, content={}", answer["action"].as_str().unwrap_or_default(), answer["content"]);
    Ok(said(&words))
}

/// Asks the client, as servers of older revisions do.
async fn ask(context: &RequestContext<RoleServer>, method: &str, params: Value) -> Result<Value, ErrorData> {
    let request = ServerRequest::CustomRequest(CustomRequest::new(method, Some(params)));
    let answer = context.peer.send_request(request).await.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(serde_json::to_value(answer).unwrap())
}

fn defaults() -> Value {
    json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    })
}

fn enums() -> Value {
    let titled = |word: &str| -> Vec<Value> {
        let titles = [("value1", "First"), ("value2", "Second"), ("value3", "Third")];
        titles.iter().map(|(value, title)| json!({ "const": value, "title": format!("{title} {word}") })).collect()
    };
    let plain = ["option1", "option2", "option3"];
    json!({
        "untitledSingle": { "type": "string", "enum": plain },
        "titledSingle": { "type": "string", "oneOf": titled("Option") },
        "legacyEnum": {
            "type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
    })
}
