//! Reads objects as the service's JSON reader does: both `outputDimensionality` and `output_dimensionality` are the
//! field, and a name the schema does not have is refused rather than ignored.

use serde_json::{Map, Value};

use super::problem::Problem;

/// The fields of an object by their camelCase names; nulls are absent.
pub(super) fn read(value: &Value, known: &[&str], place: &str) -> Result<Map<String, Value>, Problem> {
    let object =
        value.as_object().ok_or_else(|| Problem::invalid(format!("Invalid value at '{place}': an object is expected")))?;
    let mut fields = Map::new();
    for (name, value) in object {
        let camel = camel(name);
        if !known.contains(&camel.as_str()) {
            return Err(Problem::unknown_name(name, place));
        }
        if !value.is_null() {
            fields.insert(camel, value.clone());
        }
    }
    Ok(fields)
}

/// A whole number, which may come as a string.
pub(super) fn int(fields: &Map<String, Value>, name: &str) -> Result<Option<u64>, Problem> {
    match fields.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => text.parse().map(Some).map_err(|_| not_a_number(name, text)),
        Some(value) => value.as_u64().map(Some).ok_or_else(|| not_a_number(name, &value.to_string())),
    }
}

/// The texts of a content's parts, joined. `None`: there is nothing in it that could be read.
pub(super) fn text(content: &Value) -> Option<String> {
    let parts = content["parts"].as_array()?;
    let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    let has_data = parts.iter().any(|part| part["text"].is_null());
    (has_data || texts.iter().any(|text| !text.is_empty())).then(|| texts.concat())
}

fn not_a_number(name: &str, value: &str) -> Problem {
    Problem::invalid(format!("Invalid value at '{name}' (TYPE_INT32), {value}"))
}

fn camel(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut is_next_big = false;
    for letter in name.chars() {
        if letter == '_' {
            is_next_big = true;
        } else {
            camel.push(if is_next_big { letter.to_ascii_uppercase() } else { letter });
            is_next_big = false;
        }
    }
    camel
}
