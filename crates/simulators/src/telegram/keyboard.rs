//! Reply markup: what the server refuses in a keyboard.

use serde_json::Value;

use crate::params::Params;

use super::errors::Refusal;
use super::links;

const BUTTONS_MAX: usize = 100;
const CALLBACK_DATA_BYTES_MAX: usize = 64;
const COPY_TEXT_CHARS_MAX: usize = 256;
/// Each button has exactly one of these beside its text.
const ACTIONS: [&str; 10] = [
    "url",
    "callback_data",
    "web_app",
    "login_url",
    "switch_inline_query",
    "switch_inline_query_current_chat",
    "switch_inline_query_chosen_chat",
    "copy_text",
    "callback_game",
    "pay",
];

/// The inline keyboard of a message. Other kinds of markup are accepted but not shown in the message, as on the server.
pub(super) fn read(params: &Params) -> Result<Option<Box<Value>>, Refusal> {
    let Some(given) = params.json("reply_markup") else {
        return Ok(None);
    };
    let markup = given.map_err(|_| Refusal::bad_request("can't parse reply keyboard markup JSON object"))?;
    if markup.as_str().is_some_and(str::is_empty) {
        return Ok(None);
    }
    let Some(fields) = markup.as_object() else {
        return Err(Refusal::bad_request("object expected as reply markup"));
    };
    let Some(rows) = fields.get("inline_keyboard") else {
        return Ok(None);
    };
    let Some(rows) = rows.as_array() else {
        return Err(Refusal::bad_request("field \"inline_keyboard\" must be of type Array"));
    };
    let mut buttons = 0;
    for row in rows {
        let Some(row) = row.as_array() else {
            return Err(Refusal::bad_request("inline keyboard row must be an Array"));
        };
        buttons += row.len();
        row.iter().try_for_each(check_button)?;
    }
    if buttons > BUTTONS_MAX {
        return Err(Refusal::bad_request("reply markup is too long"));
    }
    if buttons == 0 {
        return Ok(None);
    }
    Ok(Some(Box::new(serde_json::json!({"inline_keyboard": rows}))))
}

fn check_button(button: &Value) -> Result<(), Refusal> {
    let unparsed = |message: &str| Refusal::bad_request(&format!("can't parse inline keyboard button: {message}"));
    let Some(fields) = button.as_object() else {
        return Err(unparsed("Object expected"));
    };
    let Some(text) = fields.get("text").and_then(Value::as_str) else {
        return Err(unparsed("Field \"text\" must be of type String"));
    };
    if text.trim().is_empty() {
        return Err(Refusal::bad_request("inline keyboard button text must be non-empty"));
    }
    let action = ACTIONS.iter().find_map(|name| Some((*name, fields.get(*name).filter(|value| !value.is_null())?)));
    let Some((action, value)) = action else {
        return Err(unparsed("Text buttons are unallowed in the inline keyboard"));
    };
    let valid = match action {
        "callback_data" => value.as_str().is_some_and(|data| (1..=CALLBACK_DATA_BYTES_MAX).contains(&data.len())),
        "url" => {
            return value.as_str().and_then(links::checked).map(drop).ok_or_else(bad_url);
        }
        "web_app" | "login_url" => {
            return value["url"].as_str().and_then(links::checked).map(drop).ok_or_else(bad_url);
        }
        "copy_text" => value["text"].as_str().is_some_and(|text| (1..=COPY_TEXT_CHARS_MAX).contains(&text.chars().count())),
        _ => true,
    };
    if valid { Ok(()) } else { Err(Refusal::bad_request("BUTTON_DATA_INVALID")) }
}

fn bad_url() -> Refusal {
    Refusal::bad_request("BUTTON_URL_INVALID")
}
