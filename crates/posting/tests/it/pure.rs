//! The functions that only look at what they are given.

use serde_json::json;
use sqlx::{AssertSqlSafe, PgConnection};

use crate::support::frozen;

/// The answer as text; `$1` is the argument, a text or null.
async fn ask(connection: &mut PgConnection, expression: &str, argument: Option<&str>) -> Option<String> {
    let query = format!("select ({expression})::text");
    let answer = sqlx::query_scalar(AssertSqlSafe(query)).bind(argument).fetch_one(connection).await;
    answer.unwrap_or_else(|error| panic!("{expression} of {argument:?}: {error}"))
}

async fn assert_answers(expression: &str, rows: &[(&str, &str)]) {
    let db = frozen().await;
    let mut connection = db.owner().await;
    for (argument, expected) in rows {
        assert_eq!(ask(&mut connection, expression, Some(argument)).await.as_deref(), Some(*expected), "{argument:?}");
    }
}

async fn assert_judges(expression: &str, good: &[&str], bad: &[&str]) {
    let rows: Vec<_> = good.iter().map(|text| (*text, "true")).chain(bad.iter().map(|text| (*text, "false"))).collect();
    assert_answers(expression, &rows).await;
    let db = frozen().await;
    assert_eq!(ask(&mut db.owner().await, expression, None).await.as_deref(), Some("false"), "null is not one");
}

#[tokio::test]
async fn tags_have_one_spelling_and_one_order() {
    let rows = [
        ("{}", "{}"),
        ("{b,a,b}", "{a,b}"),
        ("{\" #Крипто\",крипто,##X,\"# y \"}", "{x,y,крипто}"),
        ("{\"\",\"#\",\" \",NULL,\"\u{a0}a\t\"}", "{a}"),
        ("{\"two words\",a#b}", "{a#b,\"two words\"}"),
    ];
    assert_answers("posting.canonical_tags($1::text[])", &rows).await;
    assert_answers("posting.canonical_tags(posting.canonical_tags($1::text[]))", &rows).await;
    let db = frozen().await;
    let nothing = ask(&mut db.owner().await, "posting.canonical_tags($1::text[])", None).await;
    assert_eq!(nothing.as_deref(), Some("{}"));
}

#[tokio::test]
async fn a_malformed_route_filter_is_no_filter() {
    let many = json!({"exclude": (0..101).map(|n| n.to_string()).collect::<Vec<_>>()}).to_string();
    let most = json!({"exclude": (0..100).map(|n| n.to_string()).collect::<Vec<_>>()}).to_string();
    let good = ["{}", r#"{"include_any": ["b", "a", "б"], "include_all": [], "exclude": ["c d"]}"#, &most];
    let bad = [
        "null",
        "[]",
        "1",
        r#""include_any""#,
        r#"{"include": ["a"]}"#,
        r#"{"include_any": "a"}"#,
        r#"{"include_any": null}"#,
        r#"{"include_any": {"a": 1}}"#,
        r#"{"include_any": [1]}"#,
        r#"{"include_any": [null]}"#,
        r#"{"include_any": [["a"]]}"#,
        r#"{"include_any": [""]}"#,
        r#"{"include_any": ["A"]}"#,
        r#"{"include_any": [" a"]}"#,
        r##"{"include_any": ["#a"]}"##,
        r#"{"exclude": [], "exlude": []}"#,
        &many,
    ];
    assert_judges("posting.is_route_filter($1::jsonb)", &good, &bad).await;
}

#[tokio::test]
async fn only_names_of_time_zones_are_time_zones() {
    let good = [
        "UTC",
        "Etc/UTC",
        "Europe/Berlin",
        "America/Argentina/Buenos_Aires",
        "America/Port-au-Prince",
        "Africa/Dar_es_Salaam",
        "Antarctica/McMurdo",
        "Australia/Lord_Howe",
        "US/Pacific",
        "Etc/GMT+5",
        "Japan",
    ];
    let bad = [
        "",
        " UTC",
        "MSK",
        "CET",
        "EST",
        "europe/berlin",
        "Europe/Atlantis",
        "MSK-3",
        "Foo/Bar+5",
        "<x>5",
        "+03",
        "posix/Europe/Berlin",
        "localtime",
        "../etc/passwd",
        "Europe/Berlin ",
    ];
    assert_judges("posting.is_time_zone($1)", &good, &bad).await;
}

#[tokio::test]
async fn every_listed_zone_but_abbreviations_is_a_time_zone() {
    let db = frozen().await;
    let query = "select array_agg(name) from pg_timezone_names
                  where name ~ '^(Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific)/'
                    and not posting.is_time_zone(name)";
    let refused: Option<Vec<String>> = sqlx::query_scalar(query).fetch_one(&mut db.owner().await).await.unwrap();
    assert_eq!(refused, None);
}

#[tokio::test]
async fn a_posting_window_has_days_and_spans() {
    let good = [
        r#"{"mon": ["09:00-18:00"]}"#,
        r#"{"daily": ["00:00-24:00"], "sun": []}"#,
        r#"{"sat": ["22:00-02:00", "10:00-10:01"], "sun": ["23:59-00:00"]}"#,
    ];
    let bad = [
        "null",
        "[]",
        "{}",
        r#"{"mon": []}"#,
        r#"{"Mon": ["09:00-18:00"]}"#,
        r#"{"mon": "09:00-18:00"}"#,
        r#"{"mon": [["09:00-18:00"]]}"#,
        r#"{"mon": [900]}"#,
        r#"{"mon": [null]}"#,
        r#"{"mon": ["9:00-18:00"]}"#,
        r#"{"mon": ["09:00-09:00"]}"#,
        r#"{"mon": ["24:00-09:00"]}"#,
        r#"{"mon": ["09:00-24:01"]}"#,
        r#"{"mon": ["09:60-10:00"]}"#,
        r#"{"mon": ["09:00-18:00\n"]}"#,
        r#"{"mon": ["09:00-18:00"], "tue": ["x"]}"#,
    ];
    assert_judges("posting.is_posting_window($1::jsonb)", &good, &bad).await;
}

#[tokio::test]
async fn a_character_beyond_the_basic_plane_is_two_units() {
    let rows = [("", "0"), ("abc", "3"), ("яя", "2"), ("€", "1"), ("🏟", "2"), ("a🏟я👍🏽", "8"), ("\u{ffff}\u{10000}", "3")];
    let rows: Vec<_> = rows.iter().map(|(text, units)| (*text, *units)).collect();
    for (text, units) in &rows {
        assert_eq!(text.encode_utf16().count().to_string(), **units);
    }
    assert_answers("posting.utf16_length($1)", &rows).await;
}

#[tokio::test]
async fn white_space_is_normalized_outside_of_code() {
    let plain = [
        ("a", "a"),
        ("  a \t\u{a0} b  ", "a b"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a  \n\t b", "a\nb"),
        ("a\n\n\n\n b\n\nc\n", "a\n\nb\n\nc"),
        ("a \n \n \n b", "a\n\nb"),
        ("<pre>a  b</pre>  ```c  d```", "<pre>a b</pre> ```c d```"),
    ];
    let html = [
        ("  a  b <pre>\r\n  x  y\n\n\n\nz </pre>  \n c", "a b <pre>\n  x  y\n\n\n\nz </pre>\nc"),
        ("<PRE> a  a</PRE>  b  <pre class=\"q\"> c  c</pre>", "<PRE> a  a</PRE> b <pre class=\"q\"> c  c</pre>"),
        ("<pre>  a  b", "<pre> a b"),
        ("<present>  a</pre>", "<present> a</pre>"),
        ("a  <b> b</b>  ```c  d```", "a <b> b</b> ```c d```"),
    ];
    let markdown = [
        ("a  ```  x  \n\n\n y```  \n b  ``` c  d", "a ```  x  \n\n\n y```\nb ``` c d"),
        ("```a  a``` b  b ```c  c```", "```a  a``` b b ```c  c```"),
    ];
    for (mode, rows) in [("null", &plain[..]), ("'None'", &plain), ("'HTML'", &html), ("'Markdown'", &markdown)] {
        let once = format!("posting.normalize_text($1, {mode})");
        assert_answers(&once, rows).await;
        assert_answers(&once.replace("$1", &once), rows).await;
    }
}

#[tokio::test]
async fn a_text_of_nothing_is_null() {
    let db = frozen().await;
    let mut connection = db.owner().await;
    for text in [None, Some(""), Some(" \r\n\u{a0}\t")] {
        for mode in ["null", "'HTML'", "'Markdown'"] {
            assert_eq!(ask(&mut connection, &format!("posting.normalize_text($1, {mode})"), text).await, None);
        }
    }
}

#[tokio::test]
async fn one_address_has_one_spelling() {
    let rows = [
        (" HTTPS://Example.COM ", "https://example.com/"),
        ("http://x.org:80/A", "http://x.org/A"),
        ("https://x.org:443?a=1", "https://x.org/?a=1"),
        ("http://x.org:443/", "http://x.org:443/"),
        ("http://x.org:/", "http://x.org/"),
        ("https://x.org/p?utm_source=a&b=1&FBCLID=2&a=3&utm_x&gclid=&yclid=1&ysclid=2#frag", "https://x.org/p?b=1&a=3"),
        ("https://x.org/p?utm_source=a#b", "https://x.org/p"),
        ("https://x.org/p?autm_source=a&q=utm_source", "https://x.org/p?autm_source=a&q=utm_source"),
        ("https://x.org/p?q=https://y.org/?z", "https://x.org/p?q=https://y.org/?z"),
        ("https://x.org/#a?b", "https://x.org/"),
        ("https://User:Pass@X.org/", "https://User:Pass@x.org/"),
        ("http://[2001:DB8::1]:80/", "http://[2001:db8::1]/"),
        ("https://ПРИМЕР.рф/Путь", "https://пример.рф/Путь"),
        (" mailto:A@b.org ", "mailto:A@b.org"),
        ("http://", "http://"),
        ("http://x y", "http://x y"),
        ("x.org/A#b", "x.org/A#b"),
        ("", ""),
    ];
    assert_answers("posting.canonical_url($1)", &rows).await;
    assert_answers("posting.canonical_url(posting.canonical_url($1))", &rows).await;
}

#[tokio::test]
async fn hashtags_are_found_outside_of_words_and_addresses() {
    let rows = [
        ("", "{}"),
        ("#B текст #а, #a.", "{a,b,а}"),
        ("#Привет_мир2 (#x)/#y «#ё»", "{x,y,привет_мир2,ё}"),
        ("a#b 1#c _#d", "{}"),
        ("#123 #_ # #1a #2026год", "{1a,2026год}"),
        ("http://x/#frag https://y.org/a?b#c t.me/x#y x.org/#z #ok", "{ok}"),
        ("##two\n#three", "{three,two}"),
    ];
    assert_answers("posting.hashtags($1)", &rows).await;
    let db = frozen().await;
    assert_eq!(ask(&mut db.owner().await, "posting.hashtags($1)", None).await.as_deref(), Some("{}"));
}
