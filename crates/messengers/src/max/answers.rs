//! Reads the message that MAX made: its id, and the tokens of what is attached to it.

use kernel::AdapterError;
use serde_json::Value;

use super::{classify, request::MaxAttachment};
use crate::answer::Repeat;
use crate::{Raw, Sent};

pub(super) fn sent(answer: Value, items: &[MaxAttachment]) -> Result<Sent, AdapterError> {
    let body = &answer["message"]["body"];
    let Some(mid) = body["mid"].as_str().map(ToOwned::to_owned) else {
        // MAX agreed to something, and we cannot say to what.
        return Err(classify::unreadable(&answer, Repeat::Duplicates));
    };
    let file_ids = tokens(&body["attachments"], items);
    Ok(Sent { provider_message_ids: vec![mid.clone()], provider_message_id: mid, file_ids, migrated_to: None, raw: Raw(answer) })
}

/// The token that each item was sent by, or the one that MAX gave to what it fetched itself. The items are shown in
/// their order; the keyboard is among them.
fn tokens(shown: &Value, items: &[MaxAttachment]) -> Vec<Option<String>> {
    let is_media = |attachment: &&Value| attachment["type"] != "inline_keyboard";
    let shown: Vec<&Value> = shown.as_array().into_iter().flatten().filter(is_media).collect();
    let are_all_shown = shown.len() == items.len();
    let token = |(index, item): (usize, &MaxAttachment)| {
        let given = || shown.get(index).filter(|_| are_all_shown)?["payload"]["token"].as_str();
        item.token().or_else(given).map(ToOwned::to_owned)
    };
    items.iter().enumerate().map(token).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::max::request;
    use crate::{Media, MediaKind, MediaSource};

    fn item(source: MediaSource) -> MaxAttachment {
        request::item(&Media { kind: MediaKind::Image, source, caption: None }, None)
    }

    #[test]
    fn a_picture_sent_by_its_address_gets_the_token_of_the_answer() {
        let items = [item(MediaSource::FileId("mine".into())), item(MediaSource::Url("https://e.ru/a.png".into()))];
        let shown = json!([
            {"type": "image", "payload": {"token": "t1"}},
            {"type": "image", "payload": {"token": "t2"}},
            {"type": "inline_keyboard", "payload": {}},
        ]);
        assert_eq!(tokens(&shown, &items), [Some("mine".to_owned()), Some("t2".to_owned())]);
        assert_eq!(tokens(&json!([{"type": "image", "payload": {"token": "t2"}}]), &items), [Some("mine".to_owned()), None]);
        assert_eq!(tokens(&Value::Null, &items), [Some("mine".to_owned()), None]);
    }

    #[test]
    fn a_success_without_an_id_is_a_send_of_unknown_outcome() {
        for answer in [json!({}), json!({"message": {}}), json!({"success": true})] {
            let error = sent(answer, &[]).unwrap_err();
            assert!(error.outcome_unknown() && error.code == "unreadable_answer", "{error:?}");
        }
    }
}
