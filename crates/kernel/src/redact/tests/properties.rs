//! What holds for every text, not only for those that somebody thought of.

use proptest::{prelude::*, sample::select, test_runner::RngSeed};
use serde_json::json;

use super::*;

/// Pieces of everything that a rule looks at, so that random rows of them meet each rule and its neighbours.
const PIECES: &[&str] = &[
    TELEGRAM,
    BERESTA,
    JWT,
    OPENAI,
    GOOGLE,
    PEM,
    "a@b.com",
    "+7 912 345-67-89",
    "8-912-345-67-89",
    "4111 1111 1111 1111",
    "4111111111111111",
    "415-555-2671",
    "345-67-89",
    "+1 000 000",
    "+12 345 678",
    "2026-02-11",
    "11.02.2026",
    "1",
    "12",
    "345",
    "000",
    "4111",
    "79123456789",
    "550e8400-e29b-41d4-a716-446655440000",
    "+",
    "%2B",
    "-",
    ".",
    ":",
    " ",
    "  ",
    "(",
    ")",
    "\n",
    "\t",
    ",",
    ";",
    "=",
    "%3D",
    "\"",
    "'",
    "\\",
    "\\\"",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "/",
    "?",
    "&",
    "#",
    "@",
    "%40",
    "://",
    "https://",
    "/hooks/push/",
    "token",
    "secret",
    "x-api-key",
    "Authorization",
    "Cookie",
    "bearer",
    "Bearer ",
    "password=",
    "\"token\":",
    "key",
    "phone",
    "тел. ",
    "tel",
    "e",
    "a",
    "B",
    "_",
    "ё",
    "₽",
    "руб",
    "[secret]",
    "[phone]",
    "[card]",
    "[email]",
    "[redacted]",
    "-----BEGIN PRIVATE KEY-----",
    "eyJ",
    "sk-",
    "\u{a0}",
    "\u{2011}",
];

fn rows() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![9 => select(PIECES).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)],
        0..24,
    )
    .prop_map(|pieces| pieces.concat())
}

/// Secrets whose looks or place give them away, with the part that must not survive.
fn planted() -> impl Strategy<Value = (String, String)> {
    let token = "[A-Za-z0-9]{43}";
    prop_oneof![
        ("[0-9]{8,10}", "[A-Za-z0-9_-]{35}", select(&[":", "%3A", "%3a"][..]))
            .prop_map(|(bot, key, colon)| (format!("{bot}{colon}{key}"), key)),
        token.prop_map(|key| (format!("brs_{key}"), key)),
        token.prop_map(|key| (format!("eyJ{key}.{key}.{key}"), key)),
        token.prop_map(|key| (format!(" sk-{key}"), key)),
        token.prop_map(|key| (format!("AIza{key}"), key)),
        token.prop_map(|key| (format!(" Bearer {key}"), key)),
        token.prop_map(|key| (format!("\nAuthorization: Basic {key}"), key)),
        token.prop_map(|key| (format!("\nCookie: a=b; session={key}"), key)),
        token.prop_map(|key| (format!("?access_token={key}"), key)),
        token.prop_map(|key| (format!("&X-Amz-Signature={key}"), key)),
        token.prop_map(|key| (format!("{{\"client_secret\": \"{key}\"}}"), key)),
        token.prop_map(|key| (format!("postgres://user:{key}@db/x"), key)),
        token.prop_map(|key| (format!("-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----"), key)),
        "[a-z]{8}".prop_map(|name| (format!("{name}@example.com"), format!("{name}@"))),
        "9[0-9]{2}-[0-9]{3}-[0-9]{2}-[0-9]{2}".prop_map(|phone| (format!(" 8-{phone} "), phone)),
        "9[0-9]{9}".prop_map(|phone| (format!(" +7{phone} "), phone)),
        select(&["5555 5555 5555 4444", "4012-8888-8888-1881", "5105105105105100"][..])
            .prop_map(|card| (format!(" {card};"), card.to_owned())),
    ]
}

fn seeded(mut config: ProptestConfig) -> ProptestConfig {
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(20_261_118);
    }
    config
}

#[test]
fn a_sum_with_two_dots_before_a_phone_is_read_the_same_way_twice() {
    for sum in [
        "+12 345 678.4111.+79123456789",
        "+12 345 678.41.8-912-345-67-89",
        "+12 345 678.41.brs_",
        "+12 345 678.41.%2B79123456789",
    ] {
        let text = format!("{sum}{}", "a1".repeat(22));
        for text in [sum, &text] {
            let once = redact_text(text);
            assert_eq!(redact_text(&once), once.as_ref(), "{text}");
        }
    }
}

proptest! {
    // The same cases each time, so that a change is judged by what it changed; `PROPTEST_RNG_SEED` draws others.
    #![proptest_config(seeded(ProptestConfig::with_cases(512)))]

    #[test]
    fn redacting_twice_changes_nothing(text in prop_oneof![4 => rows(), 1 => any::<String>()]) {
        let once = redact_text(&text);
        prop_assert_eq!(redact_text(&once), once.as_ref());
    }

    #[test]
    fn redacting_json_twice_changes_nothing(texts in prop::collection::vec((rows(), rows()), 0..4)) {
        let mut once = json!(texts.into_iter().collect::<std::collections::BTreeMap<_, _>>());
        redact_json(&mut once);
        let mut twice = once.clone();
        redact_json(&mut twice);
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn a_planted_secret_never_survives_its_surroundings(
        (secret, private) in planted(), before in prop_oneof![rows(), any::<String>()], after in prop_oneof![rows(), any::<String>()],
    ) {
        let text = format!("{before}{secret}{after}");
        prop_assert!(!redact_text(&text).contains(&private), "{text:?} -> {:?}", redact_text(&text));
    }

    #[test]
    fn the_first_look_never_misses_what_the_rules_would_find(text in prop_oneof![rows(), any::<String>()]) {
        prop_assert_eq!(redact_text(&text), redact_suspect(&text));
    }

    #[test]
    fn a_snippet_is_never_longer_than_asked(text in rows(), chars_max in 0..60_usize) {
        prop_assert!(snippet(&text, chars_max).chars().count() <= chars_max);
    }
}
