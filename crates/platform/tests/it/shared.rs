//! The functions that the SQL of all modules shares: they only look at what they are given.

use kernel::{ErrorKind, redact};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgConnection};
use testkit::TestDb;

/// The answer as text; `$1` is the argument, a text or null.
async fn ask(connection: &mut PgConnection, expression: &str, argument: Option<&str>) -> Option<String> {
    let query = format!("select ({expression})::text");
    let answer = sqlx::query_scalar(AssertSqlSafe(query)).bind(argument).fetch_one(connection).await;
    answer.unwrap_or_else(|error| panic!("{expression} of {argument:?}: {error}"))
}

#[tokio::test]
async fn a_line_has_no_control_characters_and_one_space_where_there_was_any_white_space() {
    let db = TestDb::frozen().await;
    let mut connection = db.owner().await;
    for (given, line) in [
        ("  Читаем\n\t отчёт.pdf ", "Читаем отчёт.pdf"),
        ("a \u{1} b\u{a0}\u{2003}c\u{85}d\u{2028}e", "a b c d e"),
        ("photo\u{202e}gpj\u{feff}.exe\u{200f}\u{1b}", "photogpj.exe"),
        ("👨\u{200d}👩", "👨\u{200d}👩"),
        ("\u{2066} \n", ""),
    ] {
        assert_eq!(ask(&mut connection, "platform.one_line($1)", Some(given)).await.as_deref(), Some(line), "{given:?}");
        assert_eq!(ask(&mut connection, "platform.one_line($1)", Some(line)).await.as_deref(), Some(line), "{line:?}");
    }
    assert_eq!(ask(&mut connection, "platform.one_line($1)", None).await, None);
}

#[tokio::test]
async fn a_wait_doubles_up_to_its_limit_is_never_shorter_than_asked_and_grows_by_a_fifth_at_most() {
    let db = TestDb::frozen().await;
    let mut connection = db.owner().await;
    for (arguments, least, most) in [
        ("1, 2, 300", 2.0, 2.4),
        ("2, 2, 300", 4.0, 4.8),
        ("8, 2, 300", 256.0, 268.0),
        ("9, 2, 300", 300.0, 312.0),
        ("2147483647, 2, 300", 300.0, 312.0),
        ("1, 2, 300, 30", 30.0, 30.4),
        ("5, 2, 300, 30", 32.0, 38.4),
    ] {
        let waits = format!("array(select extract(epoch from platform.backoff({arguments})) from generate_series(1, 50))");
        let ends = format!("(select array[min(w), max(w), count(distinct w)] from unnest({waits}) w)::float8[] || $1::float8[]");
        let found = ask(&mut connection, &ends, Some("{}")).await.unwrap();
        let found: Vec<f64> = found.trim_matches(['{', '}']).split(',').map(|number| number.parse().unwrap()).collect();
        assert!(found[0] >= least && found[1] <= most && found[2] > 1.0, "{arguments}: {found:?}");
    }
}

#[tokio::test]
async fn ids_and_cursors_lead_back_to_their_time() {
    let db = TestDb::frozen().await;
    let mut connection = db.owner().await;
    let at = "2026-03-02T09:00:00.123456Z";
    assert_eq!(ask(&mut connection, "platform.stamp($1::timestamptz)", Some(at)).await.as_deref(), Some(at));
    let micros = "platform.stamp(platform.at_micros((extract(epoch from $1::timestamptz) * 1000000)::bigint))";
    assert_eq!(ask(&mut connection, micros, Some(at)).await.as_deref(), Some(at));
    let is_between = "platform.id_at(platform.now()) <= platform.new_id()
                      and platform.new_id() < platform.id_at(platform.now() + $1::interval)";
    assert_eq!(ask(&mut connection, is_between, Some("1 millisecond")).await.as_deref(), Some("true"));
}

#[tokio::test]
async fn secrets_and_people_are_taken_out_as_the_rust_side_does() {
    let db = TestDb::frozen().await;
    let mut connection = db.owner().await;
    for text in [
        "Bad Request: chat not found",
        "Too Many Requests: retry after 14",
        "chat -1001234567890 at 2026-03-02T09:00:00+03:00, id 123456789012, 550e8400-e29b-41d4-a716-446655440000",
        "https://api.telegram.org/bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/sendMessage failed",
        "brs_abcdefghijklmnopqrstuvwxyz0123",
        "Authorization: Bearer abc.def\nnext line",
        "{\"authorization\": \"Bearer abc\", \"n\": 1}",
        "a bearer token is missing; Bearer abcdef, ok",
        "?access_token=abc&v=1&api_key=def#x",
        "{\"access_token\":\"a\\\"b\",\"chat_id\":5,\"password\": 'x y', \"secret\": 123}",
        "{\\\"token\\\":\\\"abc\\\"}",
        "password=hunter2 secret_ref=keep token_id=keep max_tokens=5",
        "https://user:pass@host/x and /hooks/push/abcdef?x",
        "write to ivan.petrov@example.com or иван@пример.рф",
        "call +7 (912) 345-67-89 or 8 912 345 67 89, 8(495)123-45-67, +44 20 7946 0958",
        "тел. 89123456789, phone: 4155552671, 415-555-2671",
        "card 4111 1111 1111 1111",
        "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY----- tail",
        "eyJhbGciOi.eyJzdWIiOi.c2lnbmF0 sk-abcdefghijklmnopqrstuv",
        "",
    ] {
        let redacted = ask(&mut connection, "platform.redact_text($1)", Some(text)).await.unwrap();
        assert_eq!(redacted, redact::redact_text(text), "{text}");
        let twice = ask(&mut connection, "platform.redact_text($1)", Some(&redacted)).await.unwrap();
        assert_eq!(twice, redacted);
    }
}

#[tokio::test]
async fn a_long_hostile_text_is_redacted_in_linear_time() {
    let db = TestDb::frozen().await;
    let mut connection = db.owner().await;
    for piece in
        ["a", "a@", "token", "token=\"", "bearer ", "1 ", "+1 ", "://", "x-", "eyJaaaaa", "123456:", "-----BEGIN ", "+7912345"]
    {
        let text = piece.repeat(200_000 / piece.len());
        ask(&mut connection, "set_config('statement_timeout', '10s', false) || $1", Some("")).await;
        ask(&mut connection, "length(platform.redact_text($1))", Some(&text)).await;
    }
}

#[tokio::test]
async fn an_error_is_reduced_to_what_may_be_stored() {
    let db = TestDb::frozen().await;
    let mut connection = db.owner().await;
    let nothing = json!({"category": "TRANSIENT", "scope": "delivery", "kind": "unknown", "code": "unknown"});
    let with = |more: Value| {
        let mut error = nothing.clone();
        error.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        error
    };
    let long = "слово ".repeat(20_000);
    for (given, expected) in [
        (json!(null), nothing.clone()),
        (json!([{"category": "PERMANENT"}]), nothing.clone()),
        (json!("token=abc"), nothing.clone()),
        (json!(7), nothing.clone()),
        (json!({"category": "permanent", "scope": 1, "code": {}, "retry_after_ms": "5", "x": "y"}), nothing.clone()),
        (json!({"category": [], "scope": "world", "code": "", "retry_after_ms": -1, "outcome_unknown": false}), nothing.clone()),
        (json!({"message": null, "raw": null, "outcome_unknown": "true"}), nothing.clone()),
        (json!({"category": "PERMANENT", "scope": "channel"}), with(json!({"category": "PERMANENT", "scope": "channel"}))),
        (json!({"scope": "platform", "code": 429}), with(json!({"scope": "platform", "code": "429"}))),
        (json!({"retry_after_ms": 1500.7}), with(json!({"retry_after_ms": 1500}))),
        (json!({"retry_after_ms": 0, "outcome_unknown": true}), with(json!({"retry_after_ms": 0, "kind": "unknown_outcome"}))),
        (json!({"kind": "timeout", "outcome_unknown": true}), with(json!({"kind": "timeout"}))),
        (json!({"kind": "too_hot", "code": "429"}), with(json!({"code": "429"}))),
        (json!({"kind": ["invalid"]}), nothing.clone()),
        (json!({"retry_after_ms": 1e300}), with(json!({"retry_after_ms": 604_800_000}))),
        (json!({"message": "to a@b.org", "code": "a@b.org"}), with(json!({"message": "to [email]", "code": "[email]"}))),
        (json!({"raw": {"token": "abc"}}), with(json!({"raw": "{\"token\": \"[secret]\"}"}))),
        (json!({"message": long}), with(json!({"message": redact::snippet(&long, 500)}))),
        (json!({"code": "x".repeat(200)}), with(json!({"code": redact::snippet(&"x".repeat(200), 100)}))),
    ] {
        let safe = ask(&mut connection, "platform.safe_error($1::jsonb)", Some(&given.to_string())).await.unwrap();
        assert_eq!(serde_json::from_str::<Value>(&safe).unwrap(), expected, "{given}");
    }
    let safe = ask(&mut connection, "platform.safe_error($1::jsonb)", None).await.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&safe).unwrap(), nothing);
}

#[tokio::test]
async fn a_secret_that_the_cut_of_a_snippet_would_halve_is_taken_out_whole() {
    let db = TestDb::frozen().await;
    let mut connection = db.owner().await;
    for before in [480, 15_970] {
        let text = format!("{} 123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", "x".repeat(before));
        let snippet = ask(&mut connection, "platform.snippet($1, 16500)", Some(&text)).await.unwrap();
        assert!(!snippet.contains("AAH"), "{}", &snippet[before..]);
    }
}

#[tokio::test]
async fn every_kind_of_an_error_is_known_in_sql_too() {
    let db = TestDb::frozen().await;
    let mut connection = db.owner().await;
    for kind in ErrorKind::ALL {
        let kind = serde_json::to_value(kind).unwrap();
        let found = ask(&mut connection, "platform.error_kind($1::jsonb)", Some(&json!({ "kind": kind }).to_string())).await;
        assert_eq!(found.map(Value::from), Some(kind));
    }
    let source = ask(&mut connection, "pg_get_functiondef($1::regproc)", Some("platform.error_kind")).await.unwrap();
    let list = source.split_once(" in (").unwrap().1.split_once(')').unwrap().0;
    assert_eq!(list.split(',').count(), ErrorKind::ALL.len(), "{list}");
}
