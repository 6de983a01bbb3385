//! `response_format` of a chat: text, any JSON, or JSON of a schema.

use serde_json::Value;

use super::problem::Problem;

pub(super) enum ReplyFormat {
    Text,
    Json,
    Schema(Value),
}

pub(super) fn read(format: &Value, prompt: &[String]) -> Result<ReplyFormat, Problem> {
    match format["type"].as_str() {
        None if format.is_null() => Ok(ReplyFormat::Text),
        Some("text") => Ok(ReplyFormat::Text),
        // Without the word a model might print white space until its budget ends, so the service insists on it.
        Some("json_object") if !prompt.iter().any(|text| text.to_lowercase().contains("json")) => {
            let message = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
            Err(Problem::param("messages", "", message))
        }
        Some("json_object") => Ok(ReplyFormat::Json),
        Some("json_schema") => read_schema(&format["json_schema"]).map(ReplyFormat::Schema),
        other => {
            let message = format!(
                "Invalid value: '{}'. Supported values are: 'json_object', 'json_schema', and 'text'.",
                other.unwrap_or_default()
            );
            Err(Problem::param("response_format.type", "invalid_value", message))
        }
    }
}

fn read_schema(wanted: &Value) -> Result<Value, Problem> {
    let Some(name) = wanted["name"].as_str() else {
        return Err(Problem::missing("response_format.json_schema.name"));
    };
    let schema = &wanted["schema"];
    if wanted["strict"] == true && schema["type"] == "object" && schema["additionalProperties"] != false {
        let message = format!(
            "Invalid schema for response_format '{name}': In context=(), 'additionalProperties' is required to be supplied and to be false."
        );
        return Err(Problem::param("response_format", "invalid_json_schema", message));
    }
    Ok(schema.clone())
}
