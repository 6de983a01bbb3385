//! JSON of the shape a schema asks for, filled with the quotation and the number of its source. Reads JSON Schema
//! and Gemini's own dialect, which writes the types in capitals.

use serde_json::{Map, Value, json};

use super::extract::Found;

/// A schema may refer to itself.
const DEPTH_MAX: usize = 16;

/// A value that fits the schema, as simple as possible.
pub(crate) fn shaped(schema: &Value, found: &Found) -> Value {
    fill(schema, schema, found, DEPTH_MAX)
}

fn fill(schema: &Value, root: &Value, found: &Found, depth: usize) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    let next = |schema: &Value| fill(schema, root, found, depth - 1);
    if let Some(path) = schema["$ref"].as_str().and_then(|path| path.strip_prefix('#')) {
        return root.pointer(path).map_or(Value::Null, next);
    }
    if let Some(chosen) = schema["enum"].as_array().and_then(|values| values.first()) {
        return chosen.clone();
    }
    if !schema["const"].is_null() {
        return schema["const"].clone();
    }
    let choices = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array());
    if let Some(choice) = choices.and_then(|choices| choices.iter().find(|choice| kind(choice) != "null")) {
        return next(choice);
    }
    match kind(schema).as_str() {
        "object" => {
            let fields = schema["properties"].as_object();
            fields.into_iter().flatten().map(|(name, field)| (name.clone(), next(field))).collect::<Map<_, _>>().into()
        }
        "array" => {
            let items = &schema["items"];
            let is_number = matches!(kind(items).as_str(), "integer" | "number");
            let count = schema["minItems"].as_u64().or_else(|| schema["minItems"].as_str()?.parse().ok()).unwrap_or(0);
            // Numbers are the numbers of sources; without a source there is none to name.
            let count = if is_number && found.source.is_none() { count } else { count.max(1) };
            (0..count.min(100)).map(|_| next(items)).collect()
        }
        "string" => Value::String(found.text.clone()),
        "integer" | "number" => json!(found.source.unwrap_or(0)),
        "boolean" => Value::Bool(found.source.is_some()),
        _ => Value::Null,
    }
}

/// The type in small letters; the first that is not null of several.
fn kind(schema: &Value) -> String {
    let named = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| !kind.eq_ignore_ascii_case("null")),
        other => other.as_str(),
    };
    match named {
        Some(kind) => kind.to_ascii_lowercase(),
        None if schema["properties"].is_object() => "object".to_owned(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Found, shaped};

    #[test]
    fn a_schema_of_either_dialect_is_filled_with_the_quotation_and_its_source() {
        let found = Found { text: "two days [2]".to_owned(), source: Some(2) };
        let gemini = json!({"type": "OBJECT", "properties": {
            "answer": {"type": "STRING"}, "sources": {"type": "ARRAY", "items": {"type": "INTEGER"}}, "found": {"type": "BOOLEAN"}}});
        assert_eq!(shaped(&gemini, &found), json!({"answer": "two days [2]", "sources": [2], "found": true}));
        let standard = json!({"type": "object", "properties": {"kind": {"enum": ["a", "b"]}, "item": {"$ref": "#/$defs/item"}},
            "$defs": {"item": {"type": ["string", "null"]}}});
        assert_eq!(shaped(&standard, &found), json!({"kind": "a", "item": "two days [2]"}));
    }
}
