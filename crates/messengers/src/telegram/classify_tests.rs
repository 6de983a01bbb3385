//! The table of failures, row by row.

use std::time::Duration;

use kernel::{Category, ErrorScope};
use serde_json::json;

use super::*;

const PERMANENT_CHANNEL: (Category, ErrorScope) = (Category::Permanent, ErrorScope::Channel);
const PERMANENT_DELIVERY: (Category, ErrorScope) = (Category::Permanent, ErrorScope::Delivery);
const TRANSIENT_PLATFORM: (Category, ErrorScope) = (Category::Transient, ErrorScope::Platform);

fn reply(status: u16, body: &impl ToString) -> Reply {
    Reply { status, retry_after: None, body: body.to_string().into() }
}

fn refusal(status: u16, description: &str) -> AdapterError {
    let body = json!({"ok": false, "error_code": status, "description": description});
    result(&reply(status, &body), Repeat::Duplicates).unwrap_err()
}

#[test]
fn each_refusal_means_what_the_table_says() {
    use ErrorKind::{Forbidden, Invalid, NotFound, RateLimited, TooLarge, Unauthorized, Unavailable, UnknownOutcome};
    for (status, description, meaning, kind) in [
        (401, "Unauthorized", PERMANENT_CHANNEL, Unauthorized),
        (401, "Unauthorized: invalid token specified", PERMANENT_CHANNEL, Unauthorized),
        (404, "Not Found", PERMANENT_CHANNEL, NotFound),
        (404, "Not Found: method not found", PERMANENT_CHANNEL, NotFound),
        (403, "Forbidden: bot was blocked by the user", PERMANENT_CHANNEL, Forbidden),
        (403, "Forbidden: bot was kicked from the channel chat", PERMANENT_CHANNEL, Forbidden),
        (400, "Bad Request: chat not found", PERMANENT_CHANNEL, NotFound),
        (400, "Bad Request: private chat not found", PERMANENT_CHANNEL, NotFound),
        (400, "Bad Request: need administrator rights in the channel chat", PERMANENT_CHANNEL, Forbidden),
        (400, "Bad Request: have no write access to the chat", PERMANENT_CHANNEL, Forbidden),
        (400, "Bad Request: not enough rights to send text messages to the chat", PERMANENT_CHANNEL, Forbidden),
        (400, "Bad Request: CHAT_WRITE_FORBIDDEN", PERMANENT_CHANNEL, Forbidden),
        (400, "Bad Request: PEER_ID_INVALID", PERMANENT_CHANNEL, NotFound),
        (400, "Bad Request: USER_BANNED_IN_CHANNEL", PERMANENT_CHANNEL, Forbidden),
        (400, "Bad Request: CHAT_RESTRICTED", PERMANENT_CHANNEL, Forbidden),
        (400, "Bad Request: message thread not found", PERMANENT_CHANNEL, NotFound),
        (400, "Bad Request: TOPIC_CLOSED", PERMANENT_CHANNEL, Forbidden),
        (
            400,
            "Bad Request: failed to send message #2 with the error message \"CHAT_WRITE_FORBIDDEN\"",
            PERMANENT_CHANNEL,
            Forbidden,
        ),
        (
            400,
            "Bad Request: failed to send message #2 with the error message \"PHOTO_INVALID_DIMENSIONS\"",
            PERMANENT_DELIVERY,
            Invalid,
        ),
        (400, "Bad Request: can't parse entities: Unsupported start tag \"chat\" at byte offset 0", PERMANENT_DELIVERY, Invalid),
        (400, "Bad Request: message is too long", PERMANENT_DELIVERY, Invalid),
        (400, "Bad Request: file is too big", PERMANENT_DELIVERY, TooLarge),
        (400, "Bad Request: message text is empty", PERMANENT_DELIVERY, Invalid),
        (400, "Bad Request: BUTTON_URL_INVALID", PERMANENT_DELIVERY, Invalid),
        (400, "Bad Request: message to be replied not found", PERMANENT_DELIVERY, Invalid),
        (400, "Bad Request: failed to get HTTP URL content", PERMANENT_DELIVERY, Invalid),
        (400, "Bad Request: wrong file_id or the file is temporarily unavailable", PERMANENT_DELIVERY, Invalid),
        (400, "Bad Request: something nobody has seen yet", PERMANENT_DELIVERY, Invalid),
        (413, "Request Entity Too Large", PERMANENT_DELIVERY, Invalid),
        (409, "Conflict: terminated by other getUpdates request", TRANSIENT_PLATFORM, Unavailable),
        (429, "Too Many Requests: retry after 7", TRANSIENT_PLATFORM, RateLimited),
        (500, "Internal Server Error: restart", TRANSIENT_PLATFORM, UnknownOutcome),
        (502, "Bad Gateway", TRANSIENT_PLATFORM, UnknownOutcome),
    ] {
        let error = refusal(status, description);
        assert_eq!(((error.category, error.scope), error.kind), (meaning, kind), "{description}");
        assert_eq!((&error.code, error.message.as_str()), (&status.to_string(), description));
        assert_eq!(error.outcome_unknown(), status >= 500, "{description}");
    }
}

#[test]
fn a_chat_that_moved_is_about_the_channel_and_names_the_new_id() {
    let body = json!({
        "ok": false,
        "error_code": 400,
        "description": "Bad Request: group chat was upgraded to a supergroup chat",
        "parameters": {"migrate_to_chat_id": -1_001_111_111_111_i64},
    });
    let error = result(&reply(400, &body), Repeat::Duplicates).unwrap_err();
    assert_eq!((error.category, error.scope), PERMANENT_CHANNEL);
    assert_eq!(migrated_to(&error).as_deref(), Some("-1001111111111"));
    assert!(!error.outcome_unknown());
    assert_eq!(migrated_to(&refusal(400, "Bad Request: chat not found")), None);
}

#[test]
fn the_time_to_wait_is_in_the_parameters_or_in_the_header() {
    let body = json!({"ok": false, "error_code": 429, "description": "x", "parameters": {"retry_after": 7}});
    let header = Some(Duration::from_secs(9));
    let error = result(&Reply { retry_after: header, ..reply(429, &body) }, Repeat::Duplicates).unwrap_err();
    assert_eq!(error.retry_after_ms, Some(7000));
    let bare = json!({"ok": false, "error_code": 429, "description": "x"});
    let error = result(&Reply { retry_after: header, ..reply(429, &bare) }, Repeat::Duplicates).unwrap_err();
    assert_eq!(error.retry_after_ms, Some(9000));
    let error = result(&Reply { retry_after: header, ..reply(429, &"<html>") }, Repeat::Duplicates).unwrap_err();
    assert_eq!((error.retry_after_ms, error.outcome_unknown()), (Some(9000), false));
}

#[test]
fn a_page_of_a_proxy_blames_nobody_but_the_platform() {
    for (status, meaning) in
        [(200, TRANSIENT_PLATFORM), (403, TRANSIENT_PLATFORM), (502, TRANSIENT_PLATFORM), (413, PERMANENT_DELIVERY)]
    {
        for body in ["<html>no</html>", "", "{}", "[1]"] {
            let error = result(&reply(status, &body), Repeat::Duplicates).unwrap_err();
            assert_eq!((error.category, error.scope), meaning, "{status} {body}");
            assert_eq!(error.outcome_unknown(), matches!(status, 200 | 502), "{status} {body}");
        }
    }
}

#[test]
fn only_a_whole_success_is_a_success() {
    let ok = json!({"ok": true, "result": {"message_id": 1}});
    assert_eq!(result(&reply(200, &ok), Repeat::Duplicates).unwrap(), json!({"message_id": 1}));
    assert!(result(&reply(500, &ok), Repeat::Duplicates).unwrap_err().outcome_unknown());
    let refused = json!({"ok": false, "error_code": 403, "description": "Forbidden: x"});
    assert_eq!(result(&reply(200, &refused), Repeat::Duplicates).unwrap_err().scope, ErrorScope::Channel);
}

#[test]
fn failures_that_are_no_failures_are_recognized() {
    assert!(is_not_modified(&refusal(400, "Bad Request: message is not modified: specified new message content and …")));
    assert!(is_already_gone(&refusal(400, "Bad Request: message to delete not found")));
    assert!(!is_already_gone(&refusal(400, "Bad Request: message can't be deleted")));
}
