//! An upload: an address from MAX, the bytes to that address, and the token that stands for them.
//!
//! Which of the two answers has the token depends on the kind: for a video and an audio the first, for an image and a
//! file the second. The address is on a host of its own that knows no tokens of bots, so none is sent there.

use kernel::{AdapterError, Secret};
use outbound::Reply;
use reqwest::{Method, Url, multipart::Form};
use serde_json::Value;

use super::{Max, classify, request};
use crate::answer::{self, INVALID, Repeat};
use crate::multipart::part;
use crate::{Media, MediaKind, MediaSource};

/// Gives the token of the uploaded bytes, or nothing when the item has none.
pub(super) async fn upload(max: &Max, token: &Secret, media: &Media) -> Result<Option<String>, AdapterError> {
    let MediaSource::File { name, content_type, bytes } = &media.source else {
        return Ok(None);
    };
    let slot = max.request(Method::POST, "/uploads", token)?.query(&[("type", request::kind_name(media.kind))]);
    let slot = max.make(slot, token, Repeat::Harmless).await?;
    let Some(url) = slot["url"].as_str().filter(|url| is_web_address(url)) else {
        return Err(classify::unreadable(&slot, Repeat::Harmless));
    };
    let form = Form::new().part("data", part(name, content_type, bytes));
    let request = max.client.request(Method::POST, url).multipart(form);
    let reply = answer::call(&max.client, request, token, Repeat::Harmless).await?;
    if !answer::is_success(&reply) {
        return Err(refused(&reply));
    }
    let stored = reply.json().unwrap_or_default();
    let file_id = match media.kind {
        // The answer is not even JSON.
        MediaKind::Video | MediaKind::Audio => &slot["token"],
        MediaKind::Image => first_photo(&stored),
        MediaKind::File => &stored["token"],
    };
    match file_id.as_str() {
        Some(file_id) => Ok(Some(file_id.to_owned())),
        None => Err(answer::foreign(&reply, Repeat::Harmless)),
    }
}

/// One file was uploaded, so there is one photo, under a key that means nothing to us.
fn first_photo(stored: &Value) -> &Value {
    let photo = stored["photos"].as_object().and_then(|photos| photos.values().next());
    photo.map_or(&Value::Null, |photo| &photo["token"])
}

/// The address comes from outside, so it may only be what an upload needs.
fn is_web_address(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.username().is_empty())
}

/// The upload host has no error codes: it refuses a file, asks to wait, or is unwell.
fn refused(reply: &Reply) -> AdapterError {
    if !(400..500).contains(&reply.status) || reply.status == 429 {
        return answer::foreign(reply, Repeat::Harmless);
    }
    let message = format!("the upload was refused with status {}", reply.status);
    AdapterError { raw: answer::raw_of(reply), ..answer::refused(INVALID, reply.status.to_string(), &message) }
}

#[cfg(test)]
mod tests {
    use kernel::{Category, ErrorKind, ErrorScope};

    use super::*;

    #[test]
    fn only_web_addresses_without_credentials_get_bytes() {
        for (url, ok) in [
            ("https://iu.oneme.ru/upload?sig=1", true),
            ("http://127.0.0.1:1/x", true),
            ("file:///etc/passwd", false),
            ("ftp://e.ru/x", false),
            ("https://user:word@e.ru/x", false),
            ("/upload", false),
        ] {
            assert_eq!(is_web_address(url), ok, "{url}");
        }
    }

    #[test]
    fn a_refusal_of_the_upload_host_speaks_of_the_file_and_its_faults_do_not() {
        for (status, category, scope, kind) in [
            (415, Category::Permanent, ErrorScope::Delivery, ErrorKind::Invalid),
            (413, Category::Permanent, ErrorScope::Delivery, ErrorKind::Invalid),
            (400, Category::Permanent, ErrorScope::Delivery, ErrorKind::Invalid),
            (429, Category::Transient, ErrorScope::Platform, ErrorKind::RateLimited),
            (302, Category::Transient, ErrorScope::Platform, ErrorKind::Unavailable),
            (503, Category::Transient, ErrorScope::Platform, ErrorKind::Unavailable),
        ] {
            let error = refused(&Reply { status, retry_after: None, body: "File extension is forbidden".into() });
            assert_eq!((error.category, error.scope, error.kind), (category, scope, kind), "{status}");
        }
    }
}
