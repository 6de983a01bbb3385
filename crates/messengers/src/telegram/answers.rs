//! Reads the messages that Telegram made: their ids, and the ids of the files in them.

use kernel::AdapterError;
use serde_json::Value;

use super::{classify, request};
use crate::answer::Repeat;
use crate::{Media, MediaKind, Raw, Sent};

/// From one message, or from the list of an album, whose order is that of the media.
pub(super) fn sent(result: Value, media: &[Media], migrated_to: Option<String>) -> Result<Sent, AdapterError> {
    let messages = result.as_array().map_or_else(|| std::slice::from_ref(&result), Vec::as_slice);
    let ids: Option<Vec<String>> = messages.iter().map(|message| Some(message["message_id"].as_i64()?.to_string())).collect();
    let Some((provider_message_ids, first)) = ids.and_then(|ids| ids.first().cloned().map(|first| (ids, first))) else {
        // Telegram agreed to something, and we cannot say to what.
        return Err(classify::unreadable(&result, Repeat::Duplicates));
    };
    let file_ids = media.iter().enumerate().map(|(index, item)| file_id(messages.get(index)?, item.kind)).collect();
    Ok(Sent { provider_message_id: first, provider_message_ids, file_ids, migrated_to, raw: Raw(result) })
}

/// Telegram may show a file as something else than it was sent as: a silent video is an animation.
fn file_id(message: &Value, kind: MediaKind) -> Option<String> {
    let object = match kind {
        MediaKind::Image => largest(&message["photo"])?,
        _ => [request::kind_name(kind), "animation", "video", "audio", "voice", "document"]
            .into_iter()
            .find_map(|name| message.get(name))?,
    };
    object["file_id"].as_str().map(ToOwned::to_owned)
}

fn largest(sizes: &Value) -> Option<&Value> {
    let area = |size: &&Value| size["width"].as_u64().unwrap_or(0).saturating_mul(size["height"].as_u64().unwrap_or(0));
    sizes.as_array()?.iter().max_by_key(area)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::MediaSource;

    fn media(kind: MediaKind) -> Media {
        Media { kind, source: MediaSource::FileId("x".into()), caption: None }
    }

    #[test]
    fn the_largest_photo_is_the_one_to_keep() {
        let photo = json!([
            {"file_id": "small", "width": 90, "height": 90},
            {"file_id": "large", "width": 1280, "height": 720},
            {"file_id": "middle", "width": 320, "height": 180},
        ]);
        let sent = sent(json!({"message_id": 7, "photo": photo}), &[media(MediaKind::Image)], None).unwrap();
        assert_eq!(sent.file_ids, [Some("large".to_owned())]);
    }

    #[test]
    fn a_video_shown_as_an_animation_is_found() {
        let message = json!({"message_id": 7, "animation": {"file_id": "a"}, "document": {"file_id": "d"}});
        let sent = sent(message, &[media(MediaKind::Video)], None).unwrap();
        assert_eq!(sent.file_ids, [Some("a".to_owned())]);
    }

    #[test]
    fn a_success_without_an_id_is_a_send_of_unknown_outcome() {
        for result in [json!(true), json!([]), json!({}), json!([{"message_id": 1}, {}])] {
            let error = sent(result, &[], None).unwrap_err();
            assert!(error.outcome_unknown() && error.code == "unreadable_answer", "{error:?}");
        }
    }
}
