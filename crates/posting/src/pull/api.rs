//! JSON APIs, read into items.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    config::Api,
    item::{Item, SUMMARY_CHARS_MAX, TEXT_CHARS_MAX, TITLE_CHARS_MAX, oldest_first, shown, shown_link},
    plain,
};

/// What one answer holds.
#[derive(Debug)]
pub(super) struct ApiAnswer {
    /// Oldest first: an API with a cursor goes forward in time, one without shows the newest on top.
    pub(super) items: Vec<Item>,
    pub(super) next: Option<String>,
}

pub(super) fn read(api: &Api, body: &[u8]) -> Result<ApiAnswer, String> {
    let answer: Value = serde_json::from_slice(body).map_err(|error| format!("the answer is not JSON: {error}"))?;
    let list = answer.pointer(&api.items).and_then(Value::as_array);
    let list = list.ok_or_else(|| format!("there is no list at `items` = `{}` in the answer", api.items))?;
    let items = list.iter().map(|value| item(api, value)).collect::<Result<Vec<_>, _>>()?;
    let next = api.cursor.as_ref().and_then(|cursor| text_at(&answer, Some(&cursor.next)));
    Ok(ApiAnswer { items: oldest_first(items, api.cursor.is_none()), next })
}

/// The address of the page that this cursor leads to.
pub(super) fn page_url(api: &Api, cursor: Option<&str>) -> Result<String, String> {
    let (Some(settings), Some(cursor)) = (&api.cursor, cursor) else { return Ok(api.page.url.clone()) };
    let mut url = url::Url::parse(&api.page.url).map_err(|error| format!("`url` is not an address: {error}"))?;
    let others: Vec<(String, String)> =
        url.query_pairs().filter(|(name, _)| *name != settings.param).map(|(name, value)| (name.into(), value.into())).collect();
    url.query_pairs_mut().clear().extend_pairs(others).append_pair(&settings.param, cursor);
    Ok(url.into())
}

fn item(api: &Api, value: &Value) -> Result<Item, String> {
    let at = |pointer: &Option<String>| text_at(value, pointer.as_deref());
    let key = text_at(value, Some(&api.id)).ok_or_else(|| format!("an item has no `id` at `{}`", api.id))?;
    Ok(Item {
        title: at(&api.title).and_then(|text| shown(&plain::from_html(&text), TITLE_CHARS_MAX)),
        summary: at(&api.summary).and_then(|text| shown(&plain::from_html(&text), SUMMARY_CHARS_MAX)),
        text: at(&api.text).and_then(|text| shown(&text, TEXT_CHARS_MAX)),
        link: at(&api.link).and_then(|text| shown_link(&text)),
        published: at(&api.published).and_then(|text| time(&text)),
        ..Item::new(&key)
    })
}

/// A text or a number, as text.
fn text_at(value: &Value, pointer: Option<&str>) -> Option<String> {
    match value.pointer(pointer?)? {
        Value::String(text) => (!text.trim().is_empty()).then(|| text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A time as APIs write it: in words, or in seconds or milliseconds since 1970.
fn time(text: &str) -> Option<Timestamp> {
    if let Ok(number) = text.parse::<i64>() {
        // Seconds reach this only in the year 5138.
        return if number.abs() < 100_000_000_000 { Timestamp::from_second(number) } else { Timestamp::from_millisecond(number) }
            .ok();
    }
    text.parse().ok().or_else(|| jiff::fmt::rfc2822::parse(text).ok().map(|zoned| zoned.timestamp()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::config::{Origin, SourceConfig},
        *,
    };

    fn api(more: &Value) -> Api {
        let mut config =
            json!({"url": "https://example.org/v1?lang=ru&after=old", "items": "/data", "id": "/id", "text": "/body/text"});
        for (name, value) in more.as_object().unwrap() {
            config[name] = value.clone();
        }
        match SourceConfig::parse("api", &config).unwrap().origin {
            Origin::Api(api) => *api,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn pointers_find_the_list_and_the_parts_of_its_items() {
        let api = api(&json!({"link": "/url", "published": "/at"}));
        let body = json!({"data": [
            {"id": 12, "body": {"text": "newer"}, "url": "https://example.org/12", "at": 1_772_442_000},
            {"id": "11", "body": {"text": "older"}, "at": "2026-03-02T08:00:00Z"}]});
        let answer = read(&api, body.to_string().as_bytes()).unwrap();
        let found: Vec<(&str, Option<&str>)> =
            answer.items.iter().map(|item| (item.key.as_str(), item.text.as_deref())).collect();
        assert_eq!(found, [("11", Some("older")), ("12", Some("newer"))]);
    }

    #[test]
    fn a_cursor_goes_into_the_query_in_place_of_an_old_one() {
        let with = api(&json!({"cursor": {"param": "after", "next": "/next"}}));
        assert_eq!(page_url(&with, Some("a&b=c")).unwrap(), "https://example.org/v1?lang=ru&after=a%26b%3Dc");
        assert_eq!(page_url(&with, None).unwrap(), "https://example.org/v1?lang=ru&after=old");
        let answer = read(&with, br#"{"data": [{"id": 1, "body": {"text": "x"}}, {"id": 2, "body": {}}], "next": 17}"#).unwrap();
        assert_eq!((answer.next.as_deref(), answer.items[0].key.as_str(), answer.items.len()), (Some("17"), "1", 2));
    }

    #[test]
    fn an_answer_of_another_shape_is_refused_with_what_is_missing() {
        let api = api(&json!({}));
        assert!(read(&api, b"<html>").unwrap_err().contains("not JSON"));
        assert!(read(&api, br#"{"items": []}"#).unwrap_err().contains("`/data`"));
        assert!(read(&api, br#"{"data": [{"name": "x"}]}"#).unwrap_err().contains("`id` at `/id`"));
        read(&api, format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)).as_bytes()).unwrap_err();
    }

    #[test]
    fn times_are_read_as_words_seconds_and_milliseconds() {
        let expected = "2026-03-02T09:00:00Z";
        for text in ["2026-03-02T09:00:00Z", "1772442000", "1772442000000", "Mon, 02 Mar 2026 09:00:00 +0000"] {
            assert_eq!(time(text).map(|time| time.to_string()).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(time("yesterday"), None);
    }
}
