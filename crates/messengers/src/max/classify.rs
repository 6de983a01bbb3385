//! What a refusal of MAX means: its kind, whether to try again, and how much of the world it speaks of. A pure function of
//! the answer.
//!
//! The status and the code decide; the texts have changed between versions of the server.

use kernel::{AdapterError, Category, ErrorKind, ErrorScope};
use outbound::Reply;
use serde_json::Value;

use crate::answer::{self, INVALID, Meaning, Repeat, of_channel, of_platform};

/// The body of an answer, or what its refusal means.
pub(super) fn result(reply: &Reply, repeat: Repeat) -> Result<Value, AdapterError> {
    let Some(body) = reply.json().filter(Value::is_object) else {
        return Err(answer::foreign(reply, repeat));
    };
    let message = body["message"].as_str().unwrap_or("no message");
    if answer::is_success(reply) {
        if body["success"] != false {
            return Ok(body);
        }
        // A refusal in the clothes of a success.
        let code = body["code"].as_str().unwrap_or("refused");
        let error = answer::refused(INVALID, code, message);
        return Err(AdapterError { raw: answer::raw(body), ..error });
    }
    let Some(code) = body["code"].as_str() else {
        return Err(answer::foreign(reply, repeat));
    };
    let error = answer::refused(meaning(reply.status, code, repeat), code, message);
    Err(AdapterError { retry_after_ms: answer::retry_after_ms(reply), raw: answer::raw_of(reply), ..error })
}

fn meaning(status: u16, code: &str, repeat: Repeat) -> Meaning {
    match (status, code) {
        (400, "attachment.not.ready") => (Category::Transient, ErrorScope::Delivery, ErrorKind::NotReady),
        // Of a message, a link, an upload: a chat or a dialog that is not there has a code of its own.
        (404, "not.found") => (Category::Permanent, ErrorScope::Delivery, ErrorKind::NotFound),
        (401, _) | (403, "verify.token") => of_channel(ErrorKind::Unauthorized),
        (403, _) => of_channel(ErrorKind::Forbidden),
        (404, _) => of_channel(ErrorKind::NotFound),
        (429, _) => of_platform(ErrorKind::RateLimited),
        (300..400, _) => of_platform(ErrorKind::Unavailable),
        (500.., _) => of_platform(repeat.failure()),
        _ => INVALID,
    }
}

/// MAX says of a message that is not there either that it is not found, or that its id is invalid.
pub(super) fn is_already_gone(error: &AdapterError) -> bool {
    error.code == "not.found" || (error.code == "proto.payload" && error.message.starts_with("Invalid message_id"))
}

/// A success whose body is not what the call promises.
pub(super) fn unreadable(body: &Value, repeat: Repeat) -> AdapterError {
    let reply = Reply { status: 200, retry_after: None, body: body.to_string().into() };
    answer::foreign(&reply, repeat)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    const PERMANENT_CHANNEL: (Category, ErrorScope) = (Category::Permanent, ErrorScope::Channel);
    const PERMANENT_DELIVERY: (Category, ErrorScope) = (Category::Permanent, ErrorScope::Delivery);
    const TRANSIENT_DELIVERY: (Category, ErrorScope) = (Category::Transient, ErrorScope::Delivery);
    const TRANSIENT_PLATFORM: (Category, ErrorScope) = (Category::Transient, ErrorScope::Platform);

    fn reply(status: u16, body: &impl ToString) -> Reply {
        Reply { status, retry_after: None, body: body.to_string().into() }
    }

    #[test]
    fn each_refusal_means_what_the_table_says() {
        for (status, code, meaning, kind) in [
            (401, "verify.token", PERMANENT_CHANNEL, ErrorKind::Unauthorized),
            (403, "verify.token", PERMANENT_CHANNEL, ErrorKind::Unauthorized),
            (403, "chat.denied", PERMANENT_CHANNEL, ErrorKind::Forbidden),
            (403, "access.denied", PERMANENT_CHANNEL, ErrorKind::Forbidden),
            (404, "chat.not.found", PERMANENT_CHANNEL, ErrorKind::NotFound),
            (404, "dialog.not.found", PERMANENT_CHANNEL, ErrorKind::NotFound),
            (404, "error.dialog.notfound", PERMANENT_CHANNEL, ErrorKind::NotFound),
            (404, "not.found", PERMANENT_DELIVERY, ErrorKind::NotFound),
            (400, "proto.payload", PERMANENT_DELIVERY, ErrorKind::Invalid),
            (400, "something.new", PERMANENT_DELIVERY, ErrorKind::Invalid),
            (405, "method.not.allowed", PERMANENT_DELIVERY, ErrorKind::Invalid),
            (413, "proto.payload", PERMANENT_DELIVERY, ErrorKind::Invalid),
            (400, "attachment.not.ready", TRANSIENT_DELIVERY, ErrorKind::NotReady),
            (429, "too.many.requests", TRANSIENT_PLATFORM, ErrorKind::RateLimited),
            (500, "internal.error", TRANSIENT_PLATFORM, ErrorKind::UnknownOutcome),
            (503, "service.unavailable", TRANSIENT_PLATFORM, ErrorKind::UnknownOutcome),
        ] {
            let body = json!({"code": code, "message": "words"});
            let error = result(&reply(status, &body), Repeat::Duplicates).unwrap_err();
            assert_eq!(((error.category, error.scope), error.kind), (meaning, kind), "{status} {code}");
            assert_eq!((error.code.as_str(), error.message.as_str()), (code, "words"));
            assert_eq!(error.outcome_unknown(), status >= 500, "{status} {code}");
        }
    }

    #[test]
    fn a_success_that_says_false_is_a_refusal_of_the_message() {
        let error = result(&reply(200, &json!({"success": false, "message": "no"})), Repeat::Harmless).unwrap_err();
        assert_eq!((error.category, error.scope), PERMANENT_DELIVERY);
        assert_eq!((error.code.as_str(), error.message.as_str(), error.kind), ("refused", "no", ErrorKind::Invalid));
        assert!(result(&reply(200, &json!({"success": true})), Repeat::Harmless).is_ok());
    }

    #[test]
    fn a_page_of_a_proxy_blames_nobody_but_the_platform() {
        for status in [200, 302, 401, 403, 404, 502] {
            for body in ["<html>no</html>", "", "[1]"] {
                let error = result(&reply(status, &body), Repeat::Duplicates).unwrap_err();
                assert_eq!((error.category, error.scope), TRANSIENT_PLATFORM, "{status} {body}");
                assert_eq!(error.outcome_unknown(), matches!(status, 200 | 502), "{status} {body}");
            }
        }
    }

    #[test]
    fn the_time_to_wait_is_in_the_header_if_anywhere() {
        let body = json!({"code": "too.many.requests", "message": "x"});
        let waits = Reply { retry_after: Some(Duration::from_secs(3)), ..reply(429, &body) };
        assert_eq!(result(&waits, Repeat::Duplicates).unwrap_err().retry_after_ms, Some(3000));
        let silent = result(&reply(429, &body), Repeat::Duplicates).unwrap_err();
        assert_eq!((silent.retry_after_ms, silent.kind), (None, ErrorKind::RateLimited));
        let page = result(&reply(429, &"<html>"), Repeat::Duplicates).unwrap_err();
        assert_eq!((page.retry_after_ms, page.kind), (None, ErrorKind::RateLimited));
    }

    #[test]
    fn a_message_that_is_gone_is_recognized_in_both_of_its_words() {
        let gone = |status, code, message: &str| {
            let body = json!({"code": code, "message": message});
            is_already_gone(&result(&reply(status, &body), Repeat::Harmless).unwrap_err())
        };
        assert!(gone(404, "not.found", "Message mid.1 not found"));
        assert!(gone(400, "proto.payload", "Invalid message_id: mid.1"));
        assert!(!gone(400, "proto.payload", "Can't deserialize body"));
        assert!(!gone(404, "chat.not.found", "Chat -1 not found"));
    }
}
