//! The text of an exported message: pieces with their meaning become one text with entities, as Telegram's bots are told it.

use serde_json::{Value, json};

/// The text and its entities, counted in UTF-16. Newer exports repeat the text as `text_entities`, which is always a list.
pub(super) fn read(message: &Value) -> (String, Vec<Value>) {
    let pieces = match (&message["text_entities"], &message["text"]) {
        (Value::Array(pieces), _) | (_, Value::Array(pieces)) => pieces.as_slice(),
        (_, Value::String(text)) => return (clean(text), Vec::new()),
        _ => return (String::new(), Vec::new()),
    };
    let (mut text, mut entities, mut offset) = (String::new(), Vec::new(), 0);
    for piece in pieces {
        let said = clean(piece.as_str().or_else(|| piece["text"].as_str()).unwrap_or_default());
        let length = said.encode_utf16().count();
        if let Some(mut entity) = entity(piece).filter(|_| length > 0) {
            entity["offset"] = json!(offset);
            entity["length"] = json!(length);
            entities.push(entity);
        }
        offset += length;
        text.push_str(&said);
    }
    (text, entities)
}

/// PostgreSQL keeps no text with a zero in it.
pub(super) fn clean(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// What a piece means, in the words of the Bot API; nothing for plain text and for what is not known.
fn entity(piece: &Value) -> Option<Value> {
    let kind = piece["type"].as_str()?;
    let same = [
        "bold",
        "italic",
        "underline",
        "strikethrough",
        "spoiler",
        "code",
        "pre",
        "blockquote",
        "mention",
        "hashtag",
        "cashtag",
        "bot_command",
        "email",
    ];
    Some(match kind {
        "link" => json!({ "type": "url" }),
        "text_link" => json!({ "type": "text_link", "url": clean(piece["href"].as_str()?) }),
        "mention_name" => json!({ "type": "text_mention", "user": { "id": piece["user_id"].as_i64()? } }),
        "phone" => json!({ "type": "phone_number" }),
        kind if same.contains(&kind) => json!({ "type": kind }),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_count_as_telegram_counts_and_both_forms_say_the_same() {
        let pieces = json!(["😀 ", {"type": "link", "text": "https://a.example"}, " и ", {"type": "text_link", "text": "там",
            "href": "https://b.example"}]);
        let (text, entities) = read(&json!({ "text": pieces }));
        assert_eq!(text, "😀 https://a.example и там");
        assert_eq!(
            entities,
            [
                json!({"type": "url", "offset": 3, "length": 17}),
                json!({"type": "text_link", "url": "https://b.example", "offset": 23, "length": 3})
            ]
        );
        assert_eq!(read(&json!({ "text": "", "text_entities": pieces })), (text, entities));
        assert_eq!(read(&json!({ "text": "просто" })), ("просто".to_owned(), vec![]));
    }

    #[test]
    fn what_is_no_text_at_all_is_no_text() {
        for odd in [json!({}), json!({"text": 5}), json!({"text": [5, null, {"type": "bold"}]}), json!({"text": null})] {
            assert_eq!(read(&odd), (String::new(), vec![]), "{odd}");
        }
        assert_eq!(read(&json!({"text": "a\u{0}b"})).0, "a\u{fffd}b");
    }
}
