//! A text parameter as the server takes it: parsed, cleaned, trimmed, measured after that in code points.

use serde::Deserialize;
use serde_json::Value;

use crate::params::Params;

use super::entity::{Entity, Formatted, Kind, cut_styles_at_code, sort, utf16_len};
use super::errors::Refusal;
use super::{html, links, markdown, markdown_v2};

const TEXT_CHARS_MAX: usize = 4096;
const CAPTION_CHARS_MAX: usize = 1024;
const RAW_BYTES_MAX: usize = 32_768;
/// Surplus entities are ignored by the server.
const ENTITIES_MAX: usize = 100;

/// `text` of sendMessage and editMessageText.
pub(super) fn message(params: &Params) -> Result<Formatted, Refusal> {
    let raw = params.text("text").unwrap_or_default();
    if raw.is_empty() {
        return Err(Refusal::bad_request("message text is empty"));
    }
    let formatted = read(&raw, params.text("parse_mode").as_deref(), || entities(params, "entities"))?;
    if formatted.text.is_empty() {
        return Err(Refusal::bad_request("text must be non-empty"));
    }
    if formatted.text.len() > TEXT_CHARS_MAX && formatted.text.chars().count() > TEXT_CHARS_MAX {
        return Err(Refusal::bad_request("message is too long"));
    }
    Ok(formatted)
}

/// `caption` of a medium; an empty one is none.
pub(super) fn caption(params: &Params) -> Result<Formatted, Refusal> {
    let raw = params.text("caption").unwrap_or_default();
    let formatted = read(&raw, params.text("parse_mode").as_deref(), || entities(params, "caption_entities"))?;
    if formatted.text.len() > CAPTION_CHARS_MAX && formatted.text.chars().count() > CAPTION_CHARS_MAX {
        return Err(Refusal::bad_request("message caption is too long"));
    }
    Ok(formatted)
}

fn read(
    raw: &str,
    parse_mode: Option<&str>,
    explicit: impl FnOnce() -> Result<Vec<Entity>, Refusal>,
) -> Result<Formatted, Refusal> {
    if raw.len() > RAW_BYTES_MAX {
        return Err(Refusal::bad_request("text is too long"));
    }
    let mode = parse_mode.unwrap_or_default();
    let parsed = if mode.is_empty() || mode.eq_ignore_ascii_case("none") {
        Ok(Formatted { text: raw.to_owned(), entities: explicit()? })
    } else if mode.eq_ignore_ascii_case("html") {
        html::parse(raw)
    } else if mode.eq_ignore_ascii_case("markdownv2") {
        markdown_v2::parse(raw)
    } else if mode.eq_ignore_ascii_case("markdown") {
        markdown::parse(raw)
    } else {
        return Err(Refusal::bad_request("unsupported parse_mode"));
    };
    let mut formatted = parsed.map_err(|message| Refusal::entities(&message))?;
    tidy(&mut formatted);
    Ok(formatted)
}

#[derive(Deserialize)]
struct GivenEntity {
    #[serde(rename = "type")]
    kind: Kind,
    offset: usize,
    length: usize,
    url: Option<String>,
    language: Option<String>,
    custom_emoji_id: Option<String>,
    user: Option<Value>,
}

/// Entities given instead of markup. Those the server does not take from a bot are skipped, as it does.
fn entities(params: &Params, name: &str) -> Result<Vec<Entity>, Refusal> {
    let Some(given) = params.json(name) else {
        return Ok(Vec::new());
    };
    let given = given.map_err(|_| Refusal::bad_request("can't parse entities JSON object"))?;
    let Some(list) = given.as_array() else {
        return Err(Refusal::entities("expected an Array of MessageEntity"));
    };
    let mut entities = Vec::with_capacity(list.len());
    for item in list {
        let Ok(item) = serde_json::from_value::<GivenEntity>(item.clone()) else {
            return Err(Refusal::bad_request("can't parse MessageEntity: Field \"type\" must be of type String"));
        };
        let plain = Entity::new(item.kind, item.offset, item.length);
        entities.extend(match item.kind {
            Kind::TextLink => item.url.as_deref().and_then(|url| links::entity(url, item.offset, item.length)),
            Kind::TextMention => {
                let user_id = item.user.as_ref().and_then(|user| user["id"].as_i64());
                user_id.map(|user_id| Entity::mention(user_id, item.offset, item.length))
            }
            Kind::CustomEmoji => Some(Entity { custom_emoji_id: item.custom_emoji_id, ..plain }),
            Kind::Pre => Some(Entity { language: item.language, ..plain }),
            _ => Some(plain),
        });
    }
    sort(&mut entities);
    Ok(entities)
}

/// Cleans control characters, trims, and keeps the entities within what is left.
fn tidy(formatted: &mut Formatted) {
    if formatted.text.bytes().any(|byte| byte < 0x20 && byte != b'\n') {
        clean(formatted);
    }
    let end = formatted.text.trim_end().len();
    formatted.text.truncate(end);
    let leading = formatted.text.len() - formatted.text.trim_start().len();
    if leading > 0 {
        let units = utf16_len(&formatted.text[..leading]);
        // White space that an entity covers is kept: somebody meant it.
        if formatted.entities.first().is_none_or(|entity| entity.offset >= units) {
            formatted.text.drain(..leading);
            for entity in &mut formatted.entities {
                entity.offset -= units;
            }
        }
    }
    if formatted.entities.is_empty() {
        return;
    }
    let units = utf16_len(&formatted.text);
    formatted.entities.retain_mut(|entity| {
        entity.length = entity.length.min(units.saturating_sub(entity.offset));
        entity.length > 0
    });
    cut_styles_at_code(&mut formatted.entities);
    formatted.entities.truncate(ENTITIES_MAX);
}

/// Carriage returns go, other control characters become spaces; entities move with the text.
fn clean(formatted: &mut Formatted) {
    let mut text = String::with_capacity(formatted.text.len());
    let mut removed_at = Vec::new();
    let mut units = 0;
    for letter in formatted.text.chars() {
        match letter {
            '\r' => removed_at.push(units),
            '\n' => text.push('\n'),
            control if u32::from(control) < 0x20 => text.push(' '),
            other => text.push(other),
        }
        units += letter.len_utf16();
    }
    formatted.text = text;
    let moved = |at: usize| at - removed_at.iter().filter(|removed| **removed < at).count();
    for entity in &mut formatted.entities {
        let end = moved(entity.end());
        entity.offset = moved(entity.offset);
        entity.length = end - entity.offset;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{caption, message};
    use crate::params::Params;

    fn params(value: &serde_json::Value) -> Params {
        serde_json::from_value(value.clone()).unwrap()
    }

    #[test]
    fn length_is_counted_after_parsing_in_code_points() {
        let longest = format!("<b>{}</b>", "🏟".repeat(4096));
        assert!(message(&params(&json!({"text": longest, "parse_mode": "HTML"}))).is_ok());
        let refused = message(&params(&json!({"text": "я".repeat(4097)}))).unwrap_err();
        assert_eq!(refused.description, "Bad Request: message is too long");
        let refused = caption(&params(&json!({"caption": "я".repeat(1025)}))).unwrap_err();
        assert_eq!(refused.description, "Bad Request: message caption is too long");
        let refused = message(&params(&json!({"text": "x".repeat(32_769)}))).unwrap_err();
        assert_eq!(refused.description, "Bad Request: text is too long");
    }

    #[test]
    fn a_text_is_trimmed_and_cleaned_and_its_entities_move_along() {
        let taken = message(&params(&json!({"text": "\n  a\r\n<b>b</b>\t \n", "parse_mode": "html"}))).unwrap();
        assert_eq!(taken.text, "a\nb");
        assert_eq!((taken.entities[0].offset, taken.entities[0].length), (2, 1));
    }

    #[test]
    fn an_empty_text_is_refused_before_and_after_parsing() {
        for (value, description) in [
            (json!({}), "Bad Request: message text is empty"),
            (json!({"text": ""}), "Bad Request: message text is empty"),
            (json!({"text": " \n "}), "Bad Request: text must be non-empty"),
            (json!({"text": "<b></b>", "parse_mode": "HTML"}), "Bad Request: text must be non-empty"),
            (json!({"text": "x", "parse_mode": "Wiki"}), "Bad Request: unsupported parse_mode"),
        ] {
            assert_eq!(message(&params(&value)).unwrap_err().description, description);
        }
    }

    #[test]
    fn styles_are_cut_where_code_stands() {
        let taken = message(&params(&json!({"text": "<b>a<code>b</code>c</b>", "parse_mode": "HTML"}))).unwrap();
        let found: Vec<_> = taken.entities.iter().map(|entity| (entity.offset, entity.length)).collect();
        assert_eq!(found, [(0, 1), (1, 1), (2, 1)]);
    }
}
