//! Takes secrets and personal data out of whatever is about to be logged, journaled or shown.
//!
//! Everything on its way into a log line, an event or a request journal passes through here: tokens, credentials and
//! signed queries become `[secret]`, people become `[email]`, `[phone]` and `[card]`. When in doubt a secret is cut too
//! wide rather than too narrow; a number is only taken for a phone or a card when it looks like one, because ids, dates
//! and sums are what the reader of a log came for.
//!
//! Guarantees: linear time on any input, clean text is returned borrowed, and redacting twice changes nothing, so
//! every layer may do it without asking whether another one already did.
//!
//! What it cannot know: a random secret that stands alone, without a name, a prefix or a place that gives it away. Such
//! a secret must not reach the text in the first place.

mod numbers;

use std::{borrow::Cow, sync::LazyLock};

use regex::{Captures, Regex, RegexSet};
use serde_json::{Value, json};

const SECRET: &str = "[secret]";
const EMAIL: &str = "[email]";
const PHONE: &str = "[phone]";
const CARD: &str = "[card]";
/// Stands for the whole value of a JSON key that names a secret.
const REDACTED: &str = "[redacted]";

/// Replaces every secret, e-mail address, phone and card number in the text.
pub fn redact_text(text: &str) -> Cow<'_, str> {
    if SUSPECT.is_match(text) { redact_suspect(text) } else { Cow::Borrowed(text) }
}

/// Redacts in place: the whole value under a key that names a secret, and the text of every other string. Keys stay.
pub fn redact_json(value: &mut Value) {
    // A list of what is left instead of recursion: the depth of a value is chosen by whoever sent it.
    let mut rest = vec![(NamedField::Anything, value)];
    while let Some((named, value)) = rest.pop() {
        match (named, value) {
            (NamedField::Secret, value) => *value = Value::from(REDACTED),
            (NamedField::Phone, Value::String(text)) if numbers::may_be_phone(text) => PHONE.clone_into(text),
            (NamedField::Phone, value @ Value::Number(_)) if numbers::may_be_phone(&value.to_string()) => {
                *value = Value::from(PHONE);
            }
            (_, Value::String(text)) => {
                if let Cow::Owned(redacted) = redact_text(text) {
                    *text = redacted;
                }
            }
            (named, Value::Array(items)) => rest.extend(items.iter_mut().map(|item| (named, item))),
            (_, Value::Object(fields)) => {
                rest.extend(fields.iter_mut().map(|(key, field)| (NamedField::by(key), field)));
            }
            (_, Value::Null | Value::Bool(_) | Value::Number(_)) => {}
        }
    }
}

/// The redacted beginning of a text, at most `chars_max` characters, with `…` as the last one when something was cut.
/// Redacts first: a secret cut in half is no longer recognized, but still worth stealing.
pub fn snippet(text: &str, chars_max: usize) -> String {
    let text = redact_text(text);
    if text.chars().nth(chars_max).is_none() {
        return text.into_owned();
    }
    let mut cut: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    if chars_max > 0 {
        cut.push('…');
    }
    cut
}

/// How much of a provider's answer is kept.
#[derive(Clone, Copy, Debug)]
pub struct KeptSize {
    /// Of a text inside the answer.
    pub text_chars_max: usize,
    pub items_max: usize,
    /// Of the whole.
    pub bytes_max: usize,
}

/// What is kept of an answer: redacted, with its texts, its lists and the whole cut to size.
pub fn kept_json(mut value: Value, size: KeptSize) -> Value {
    redact_json(&mut value);
    cut(&mut value, size);
    let text = value.to_string();
    if text.len() <= size.bytes_max { value } else { json!({"cut": snippet(&text, size.bytes_max / 4)}) }
}

/// Recursion is safe: what was parsed has at most the parser's depth.
fn cut(value: &mut Value, size: KeptSize) {
    match value {
        Value::String(text) if text.len() > size.text_chars_max => *text = snippet(text, size.text_chars_max),
        Value::Array(items) => {
            items.truncate(size.items_max);
            for item in items {
                cut(item, size);
            }
        }
        Value::Object(fields) => fields.values_mut().for_each(|field| cut(field, size)),
        _ => {}
    }
}

/// What the name of a JSON key says about its value.
#[derive(Clone, Copy)]
enum NamedField {
    Secret,
    Phone,
    Anything,
}

impl NamedField {
    fn by(key: &str) -> Self {
        if SECRET_KEY.is_match(key) {
            Self::Secret
        } else if PHONE_KEY.is_match(key) {
            Self::Phone
        } else {
            Self::Anything
        }
    }
}

/// A name whose value is a secret, in any case, with `-`, `_` or nothing between its words: `X-Api-Key`, `bot_token`,
/// `clientSecret`. Only the end of the name counts, so that `token_id`, `secret_ref`, `max_tokens` and
/// `idempotency_key` stay readable.
const SECRET_NAME: &str = concat!(
    r"(?:[a-z0-9_.-]*(?:token|secrets?|passwords?|passwd|passphrase|signature|authorization|cookies?|credentials?",
    r"|(?:api|access|private|secret|signing|encryption)[_-]?key|access[_-]?key[_-]?id)",
    r"|(?-u:\b)(?:pwd|sig|jwt|cvv|cvc))",
);

static SECRET_KEY: LazyLock<Regex> = LazyLock::new(|| compile(&format!("(?i)^{SECRET_NAME}$")));

static PHONE_KEY: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?i)^(?:[a-z0-9_-]*phone(?:s|[_-]?number)?|(?:[a-z0-9]+[_-])*(?:mobile|msisdn|tel))$"));

/// One way in which something private looks. The groups of the pattern are the private part; exactly one of them takes
/// part in a match, and the rest of the match, such as the name before a value, stays.
struct Rule {
    pattern: String,
    marker: &'static str,
    /// The beginning of what was found that is really private; often all of it, sometimes nothing.
    private: fn(&str) -> &str,
}

impl Rule {
    fn new(pattern: impl Into<String>) -> Self {
        Self { pattern: pattern.into(), marker: SECRET, private: |found| found }
    }
}

/// The rules in the order of their application. The order matters twice.
///
/// What reaches further comes first, or it would leave a tail: a key block before the header that contains it, a header
/// before the words in its value. And whatever swallows a space comes before a rule that a space stops, or the second
/// redaction of a text would find what the first one could not.
///
/// No rule can make the search quadratic by looking far ahead of a match that it then reports short: the
/// patterns either run to the end of their alphabet, or look ahead over a bounded number of characters.
fn rules() -> Vec<Rule> {
    vec![
        // A private key in PEM form. One that is cut off counts to the end of the text.
        Rule::new(concat!(
            r"(?s)(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?",
            r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z))",
        )),
        // A header line, to its end.
        Rule::new(concat!(
            r"(?i)(?:authorization|cookie|api-key|(?-u:\b)x-[a-z0-9-]{0,64}(?:token|secret|signature))",
            r"[ \t]*:[ \t]*(\S[^\r\n]*)",
        )),
        // `"token": "…"` of JSON, `token: Some("…")` of Debug, `token = "…"` of configuration; also with the quotes
        // escaped, as in a string inside a string.
        Rule::new(format!(
            r#"(?is){SECRET_NAME}\\*["']?\s*[:=]\s*(?:Some\()?(?:\\+"([^"\\]+)|"((?:[^"\\]|\\.)+)|'((?:[^'\\]|\\.)+))"#
        )),
        // `"token": 12345` and `"set-cookie": ["…", "…"]`.
        Rule::new(format!(r#"(?i){SECRET_NAME}["']\s*:\s*(?:(-?[0-9][^\s,}}"']*)|(\[\s*["'][^\]]*\]?))"#)),
        Rule {
            private: |found| if BEARER_IN_PROSE.is_match(found) { "" } else { found },
            ..Rule::new(r#"(?i)(?:bearer(?:[ \t]|%20|\+)+)+([^\s"'<>&,;\\]+)"#)
        },
        // `token=…` of a query string, a log line, an environment; inside an encoded URL the sign is `%3D`.
        Rule::new(format!(r#"(?i){SECRET_NAME}[ \t]*(?:=|%3D)+[ \t]*([^\s&"'<>=][^\s&"'<>]*)"#)),
        // Names too common outside a query string.
        Rule::new(r#"(?i)(?:[?&;]|%3F|%26)(?:key|auth)(?:=|%3D)([^\s&"'<>]+)"#),
        // `scheme://user:password@host`.
        Rule { private: before_numbers, ..Rule::new(r#"://([^\s/?#"'<>]+)@"#) },
        // Our own push hook takes its secret in the path.
        Rule::new(r#"/hooks/push/([^\s/?#&"'<>]+)"#),
        // Tokens that are known by their looks. Each alternative runs to the end of the token alphabet.
        Rule::new(concat!(
            r"((?:[0-9]{6,}(?::|%(?:25)?3[Aa])[A-Za-z0-9_-]{30,}", // Telegram bot, also as `/bot<token>/`
            r"|brs_[A-Za-z0-9_-]{20,}",                            // Beresta
            r"|eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*", // JWT
            r"|(?-u:\b)sk-[A-Za-z0-9_-]{20,}",                     // OpenAI and those who followed
            r"|AIza[A-Za-z0-9_-]{30,}",                            // Google
            r"|(?:AKIA|ASIA)[0-9A-Z]{16}[A-Za-z0-9_-]*",           // AWS
            r"|gh[opsur]_[A-Za-z0-9_-]{30,}|github_pat_[A-Za-z0-9_-]{30,}",
            r"|xox[abeprs]-[A-Za-z0-9_-]{10,}",             // Slack
            r")(?:(?:[.:]|%(?:25)?3[Aa])[A-Za-z0-9_-]+)*)", // and whatever is glued to it
        )),
        Rule { marker: EMAIL, ..Rule::new(r"([\w.%+-]+(?:@|%40)(?:[\w-]+\.)+[^\W\d_]{2,})") },
    ]
}

/// A space ends the credentials of a URL, and a phone or a card may contain one: what their markers have joined is not
/// taken for credentials, or the second redaction would take more than the first.
fn before_numbers(found: &str) -> &str {
    let Some(marker_at) = [PHONE, CARD].into_iter().filter_map(|marker| found.find(marker)).min() else {
        return found;
    };
    found[..marker_at].rsplit_once('@').map_or("", |(credentials, _)| credentials)
}

/// Words after "bearer" that talk about a token instead of being one.
static BEARER_IN_PROSE: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?i)^(?:tokens?|auth|authentication|authorization|scheme|realm=|header)[.:!?)]?$"));

static RULES: LazyLock<Vec<(Regex, Rule)>> =
    LazyLock::new(|| rules().into_iter().map(|rule| (compile(&rule.pattern), rule)).collect());

/// One pass over the text that says whether any rule has anything to do: most texts are clean.
static SUSPECT: LazyLock<RegexSet> = LazyLock::new(|| {
    let patterns = rules().into_iter().map(|rule| rule.pattern).chain([numbers::CANDIDATE.to_owned()]);
    RegexSet::new(patterns).expect("the patterns are constants and compile")
});

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant and compiles")
}

fn redact_suspect(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (regex, rule) in RULES.iter() {
        if let Some(redacted) = apply(regex, rule, &text) {
            text = Cow::Owned(redacted);
        }
    }
    match numbers::redact(&text) {
        Some(redacted) => Cow::Owned(redacted),
        None => text,
    }
}

/// The text with the private part of every match replaced, or nothing when there is none.
fn apply(regex: &Regex, rule: &Rule, text: &str) -> Option<String> {
    let private = |captures: Captures<'_>| {
        let found = captures.iter().skip(1).flatten().next()?;
        let bytes = (rule.private)(found.as_str()).len();
        (bytes > 0).then(|| (found.start()..found.start() + bytes, rule.marker))
    };
    replace(text, regex.captures_iter(text).filter_map(private))
}

/// Replaces the spans, which come in order and do not overlap.
fn replace<'m>(text: &str, spans: impl Iterator<Item = (std::ops::Range<usize>, &'m str)>) -> Option<String> {
    let mut out = String::new();
    let mut copied = 0;
    for (span, marker) in spans {
        out.push_str(&text[copied..span.start]);
        out.push_str(marker);
        copied = span.end;
    }
    (copied > 0).then(|| out + &text[copied..])
}

#[cfg(test)]
mod tests;
