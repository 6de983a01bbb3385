//! JSON Feed. Read into exactly what is needed: whatever else stands in it costs no memory.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

use super::{Enclosure, FeedEntry, ITEMS_MAX, Words, time};

#[derive(Deserialize)]
struct Feed {
    version: String,
    #[serde(default)]
    items: Vec<Post>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Post {
    /// A text by the specification, a number in the wild.
    #[serde(deserialize_with = "text_or_number")]
    id: String,
    url: Option<String>,
    external_url: Option<String>,
    title: Option<String>,
    summary: Option<String>,
    content_text: Option<String>,
    content_html: Option<String>,
    date_published: Option<String>,
    date_modified: Option<String>,
    image: Option<String>,
    attachments: Vec<Attachment>,
}

#[derive(Deserialize)]
struct Attachment {
    url: String,
    mime_type: Option<String>,
}

pub(super) fn read(text: &str) -> Result<Vec<FeedEntry>, String> {
    let feed: Feed = serde_json::from_str(text).map_err(|error| format!("the feed cannot be read: {error}"))?;
    if !feed.version.contains("jsonfeed.org") {
        return Err("the JSON at this address is not a JSON Feed: describe it as a source of kind `api` instead".into());
    }
    Ok(feed.items.into_iter().take(ITEMS_MAX).map(entry).collect())
}

fn entry(post: Post) -> FeedEntry {
    let plain = |text: Option<String>| Words { text: text.unwrap_or_default(), is_plain: true };
    let content = match post.content_text {
        Some(text) => plain(Some(text)),
        None => Words { text: post.content_html.unwrap_or_default(), is_plain: false },
    };
    FeedEntry {
        id: post.id,
        title: plain(post.title),
        summary: plain(post.summary),
        content,
        link: post.url.or(post.external_url),
        published: post.date_published.as_deref().and_then(time),
        updated: post.date_modified.as_deref().and_then(time),
        enclosures: post.attachments.into_iter().map(|found| Enclosure { url: found.url, mime: found.mime_type }).collect(),
        thumbnail: post.image,
    }
}

fn text_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    struct Text;

    impl de::Visitor<'_> for Text {
        type Value = String;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text or a number")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<String, E> {
            Ok(text.to_owned())
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<String, E> {
            Ok(number.to_string())
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<String, E> {
            Ok(number.to_string())
        }

        fn visit_unit<E: de::Error>(self) -> Result<String, E> {
            Ok(String::new())
        }
    }

    deserializer.deserialize_any(Text)
}
