//! Inline keyboards: shape and limits.

use serde_json::Value;

use super::problem::Problem;

const ROWS_MAX: usize = 30;
const ROW_MAX: usize = 7;
/// Rows holding one of [`WIDE`] have room for fewer.
const WIDE_ROW_MAX: usize = 3;
const WIDE: [&str; 4] = ["link", "open_app", "request_geo_location", "request_contact"];
const LABEL_CHARS_MAX: usize = 128;
const PAYLOAD_CHARS_MAX: usize = 1024;
const URL_CHARS_MAX: usize = 2048;

/// Checks an `inline_keyboard` attachment.
pub(super) fn check(attachment: &Value) -> Result<(), Problem> {
    let rows = attachment["payload"]["buttons"].as_array().ok_or_else(Problem::undeserializable)?;
    if rows.is_empty() {
        return Err(Problem::too_short("buttons", 0, 1));
    }
    if rows.len() > ROWS_MAX {
        return Err(Problem::too_long("buttons", rows.len(), ROWS_MAX));
    }
    for row in rows {
        let row = row.as_array().ok_or_else(Problem::undeserializable)?;
        let is_wide = row.iter().any(|button| WIDE.iter().any(|kind| button["type"] == *kind));
        let max = if is_wide { WIDE_ROW_MAX } else { ROW_MAX };
        if row.len() > max {
            return Err(Problem::too_long("buttons", row.len(), max));
        }
        row.iter().try_for_each(check_button)?;
    }
    Ok(())
}

fn check_button(button: &Value) -> Result<(), Problem> {
    let kind = button["type"].as_str().ok_or_else(Problem::undeserializable)?;
    let label = button["text"].as_str().ok_or_else(Problem::undeserializable)?;
    bounded("text", label, 1, LABEL_CHARS_MAX)?;
    match kind {
        "callback" | "clipboard" => {
            let payload = button["payload"].as_str().ok_or_else(Problem::undeserializable)?;
            bounded("payload", payload, 0, PAYLOAD_CHARS_MAX)
        }
        "link" => {
            let url = button["url"].as_str().ok_or_else(Problem::undeserializable)?;
            bounded("url", url, 1, URL_CHARS_MAX)?;
            let is_web = url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
            if is_web { Ok(()) } else { Err(Problem::payload("Must have only http/https links format in buttons")) }
        }
        "open_app" if button["web_app"].is_null() => Err(Problem::payload("Field 'webApp' cannot be null")),
        "open_app" | "message" | "request_contact" | "request_geo_location" => Ok(()),
        _ => Err(Problem::undeserializable()),
    }
}

fn bounded(field: &str, value: &str, min: usize, max: usize) -> Result<(), Problem> {
    let size = value.encode_utf16().count();
    if size < min {
        return Err(Problem::too_short(field, size, min));
    }
    if size > max {
        return Err(Problem::too_long(field, size, max));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check;

    fn refusal(rows: &Value) -> String {
        check(&json!({"payload": {"buttons": rows}})).unwrap_err().message.into_owned()
    }

    #[test]
    fn a_keyboard_outside_its_limits_is_refused_with_the_field_named() {
        let callback = json!({"type": "callback", "text": "x", "payload": "y"});
        let link = json!({"type": "link", "text": "x", "url": "https://e.ru"});
        let ftp = json!({"type": "link", "text": "x", "url": "ftp://e.ru"});
        for (rows, message) in [
            (json!(vec![vec![&callback]; 31]), "Field 'buttons' size (31) must be at most 30"),
            (json!([vec![&callback; 8]]), "Field 'buttons' size (8) must be at most 7"),
            (json!([vec![&link; 4]]), "Field 'buttons' size (4) must be at most 3"),
            (json!([[{"type": "callback", "text": "", "payload": "y"}]]), "Field 'text' size (0) must be at least 1"),
            (json!([[{"type": "open_app", "text": "x"}]]), "Field 'webApp' cannot be null"),
            (json!([[ftp]]), "Must have only http/https links format in buttons"),
            (json!([[{"text": "x"}]]), "Can't deserialize body"),
            (
                json!([[{"type": "callback", "text": "x", "payload": "y".repeat(1025)}]]),
                "Field 'payload' size (1025) must be at most 1024",
            ),
        ] {
            assert_eq!(refusal(&rows), message);
        }
    }
}
