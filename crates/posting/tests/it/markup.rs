//! What a reader will see, and what a provider would refuse: our readers against the simulated Telegram.

use std::time::Instant;

use axum::Router;
use serde_json::json;
use sqlx::{AssertSqlSafe, PgConnection};
use testkit::{TestDb, http};

use crate::{random::Random, support::frozen};

/// The visible text, or why there is none.
type Reading = Result<String, String>;

async fn read_all(connection: &mut PgConnection, function: &str, platform: &str, texts: &[String]) -> Vec<Reading> {
    let query = format!(
        "select r.visible, r.error from unnest($1::text[]) with ordinality t(text, i) \
         cross join lateral posting.{function}(t.text, $2) r order by t.i"
    );
    let rows: Vec<(Option<String>, Option<String>)> =
        sqlx::query_as(AssertSqlSafe(query)).bind(texts).bind(platform).fetch_all(connection).await.unwrap();
    rows.into_iter()
        .map(|row| match row {
            (Some(visible), None) => Ok(visible),
            (None, Some(error)) => Err(error),
            both => panic!("either a text or an error: {both:?}"),
        })
        .collect()
}

async fn read(db: &TestDb, function: &str, platform: &str, text: &str) -> Reading {
    read_all(&mut db.owner().await, function, platform, &[text.to_owned()]).await.remove(0)
}

/// What Telegram makes of it: the text as stored, or what it could not parse.
async fn send(router: &Router, parse_mode: &str, text: &str) -> Reading {
    let params = json!({"chat_id": -1_001_000, "text": text, "parse_mode": parse_mode});
    let path = "/telegram/bot123456:test-token/sendMessage";
    let (_, answer) = http::ask(router, None, "POST", path, Some(&params)).await;
    if answer["ok"] == true {
        return Ok(answer["result"]["text"].as_str().unwrap_or_default().to_owned());
    }
    let description = answer["description"].as_str().unwrap();
    match description.strip_prefix("Bad Request: can't parse entities: ") {
        Some(message) => Err(message.to_owned()),
        None if description.ends_with("empty") => Ok(String::new()),
        None => panic!("refused for another reason: {description}: {text:?}"),
    }
}

/// Telegram cleans what it stores: no carriage returns, spaces instead of other control characters.
fn cleaned(text: &str) -> String {
    let clean = |letter: char| if letter.is_ascii_control() && letter != '\n' && letter != '\x7f' { ' ' } else { letter };
    text.chars().filter(|letter| *letter != '\r').map(clean).collect::<String>().trim().to_owned()
}

/// Both sides must accept and refuse the same and see the same text. Tells how many were accepted.
async fn assert_agreement(function: &str, parse_mode: &str, texts: &[String]) -> usize {
    let db = frozen().await;
    let router = simulators::Simulators::new().router();
    let ours = read_all(&mut db.owner().await, function, "telegram", texts).await;
    let mut accepted = 0;
    for (text, ours) in texts.iter().zip(ours) {
        let theirs = send(&router, parse_mode, text).await;
        match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) => assert_eq!(cleaned(ours), theirs.trim(), "{text:?}"),
            (Err(_), Err(_)) => {}
            _ => panic!("{text:?}: we say {ours:?}, Telegram says {theirs:?}"),
        }
        accepted += usize::from(ours.is_ok());
    }
    accepted
}

const HTML_REFUSED: [&str; 25] = [
    "a < b",
    "🏟 <br>",
    "<b",
    "<b x",
    "<b/>",
    "<b />",
    "<b \"x\">y</b>",
    "<a title= href='x'>y</a>",
    "<>x</>",
    "<p>x</p>",
    "<!-- x -->",
    "<span>x</span>",
    "<span class=\"spoiler\">x</span>",
    "</b>",
    "я</b>",
    "<b></i>",
    "<b>x</b",
    "<b>x</b x>",
    "<b>x",
    "<b><i>x</i>",
    "<b><i>x</b></i>",
    "<tg-emoji>x</tg-emoji>",
    "<tg-emoji emoji-id=\"0\">x</>",
    "<tg-emoji emoji-id=\"9999999999999999999\">x</>",
    "&#xD800;x",
];

const HTML_ACCEPTED: [(&str, &str); 26] = [
    ("a", "a"),
    ("a > b & c", "a > b & c"),
    ("<b>a</b> <I>b</i >", "a b"),
    ("<b>a<i>b</i></b>", "ab"),
    ("<b>a</>", "a"),
    ("&lt;b&gt; &amp;lt; &quot;", "<b> &lt; \""),
    ("&lt &ltx &LT; &nbsp;", "< &ltx &LT; &nbsp;"),
    ("&#65;&#x41&#x1F3DF;", "AA🏟"),
    ("&#0; &#x; &# &#X41; &#12345678; &#1114111; &;", "&#0; &#x; &# &#X41; &#12345678; &#1114111; &;"),
    ("<a href=\"https://x.org/?a=1&amp;b=2\">x</a>", "x"),
    ("<a href=\"x>y\">z</a>", "z"),
    ("<a href='\"'>z</a>", "z"),
    ("<a href=x.org>z</a>", "z"),
    ("<a href = \"x\"b='y' c>z</a>", "z"),
    ("<a\nhref\t=\r\nx.org\u{b}>z</a>", "z"),
    ("<a>x.org</a>", "x.org"),
    ("<b class=>x</b>", "x"),
    ("<b <>x</b>", "x"),
    ("<span class=\"tg-spoiler\">x</span>", "x"),
    ("<span class=TG-SPOILER>x</span>", "x"),
    ("<span class=\"tg&#45;spoiler\">x</span>", "x"),
    ("<tg-emoji emoji-id=\"5368324170671202286\">👍</tg-emoji>", "👍"),
    ("<tg-emoji></tg-emoji>x", "x"),
    ("<tg-time unix=\"1\" format=\"r\">x</tg-time>", "x"),
    ("<pre><code class=\"language-rust\">let x;</code></pre>", "let x;"),
    ("<blockquote expandable>x</blockquote>", "x"),
];

#[tokio::test]
async fn telegram_html_is_read_as_telegram_reads_it() {
    let texts: Vec<String> = HTML_ACCEPTED.iter().map(|(text, _)| *text).chain(HTML_REFUSED).map(str::to_owned).collect();
    assert_eq!(assert_agreement("read_html", "HTML", &texts).await, HTML_ACCEPTED.len());
    let db = frozen().await;
    for (text, visible) in HTML_ACCEPTED {
        assert_eq!(read(&db, "read_html", "telegram", text).await.as_deref(), Ok(visible), "{text}");
    }
}

#[tokio::test]
async fn a_refusal_of_html_says_what_telegram_would_say() {
    let db = frozen().await;
    let router = simulators::Simulators::new().router();
    for text in HTML_REFUSED.iter().chain(&["<b x=", "<a href=\"x", "<b x='"]) {
        let ours = read(&db, "read_html", "telegram", text).await;
        assert_eq!(ours, send(&router, "HTML", text).await, "{text}");
    }
}

#[tokio::test]
async fn any_html_is_taken_or_refused_as_telegram_does() {
    const PIECES: [&str; 46] = [
        "<b>",
        "</b>",
        "<i>",
        "</i>",
        "<a href=\"x.org\">",
        "</a>",
        "</>",
        "<",
        "</",
        ">",
        "&",
        ";",
        "&lt;",
        "&amp",
        "&#65;",
        "&#x1F3DF;",
        "&#xDFFF;",
        "&#9",
        "<tg-emoji emoji-id=\"5\">",
        "<tg-emoji>",
        "</tg-emoji>",
        "<span class=\"tg-spoiler\">",
        "<span class=x>",
        "</span>",
        "<pre>",
        "</pre>",
        "<code class='language-x'>",
        "</code>",
        "<b ",
        "<u\t",
        "</u>",
        "'",
        "\"",
        "=",
        "/",
        " ",
        "\n",
        "\r\n",
        "x",
        "Я",
        "🏟",
        "<p>",
        "href",
        "class=",
        "tg-spoiler",
        "<B a=b c=\"d\">",
    ];
    let mut random = Random::new(1);
    let mut texts = Vec::new();
    for _ in 0..3000 {
        texts.push((0..=random.below(9)).map(|_| PIECES[random.below(PIECES.len())]).collect());
        let mut text = nested_html(&mut random, 3);
        if random.below(2) == 0 {
            damage(&mut random, &mut text);
        }
        texts.push(text);
    }
    let accepted = assert_agreement("read_html", "HTML", &texts).await;
    println!("{accepted} of {} texts accepted", texts.len());
    assert!(accepted > texts.len() / 5 && accepted < texts.len() * 4 / 5);
}

fn nested_html(random: &mut Random, depth: usize) -> String {
    const TEXTS: [&str; 8] = ["x ", "Привет", "🏟", " & ", "&lt;", "&#x42;", ">", "\n"];
    const TAGS: [(&str, &str); 8] = [
        ("<b>", "</b>"),
        ("<I >", "</i>"),
        ("<a href=\"https://x.org/?a=1&amp;b=<2>\">", "</a>"),
        ("<a title=t href='x'>", "</A\n>"),
        ("<span class=\"tg-spoiler\" x>", "</span>"),
        ("<tg-emoji emoji-id='12'>", "</>"),
        ("<code class = language-x>", "</code>"),
        ("<blockquote expandable>", "</blockquote>"),
    ];
    let mut text = TEXTS[random.below(TEXTS.len())].to_owned();
    for _ in 0..random.below(3) {
        let (open, close) = TAGS[random.below(TAGS.len())];
        let inner = if depth == 0 { String::new() } else { nested_html(random, depth - 1) };
        text = format!("{text}{open}{inner}{close}{}", TEXTS[random.below(TEXTS.len())]);
    }
    text
}

/// Takes one character out, or doubles it.
fn damage(random: &mut Random, text: &mut String) {
    let at = random.below(text.chars().count());
    let (index, letter) = text.char_indices().nth(at).unwrap();
    if random.below(2) == 0 {
        text.remove(index);
    } else {
        text.insert(index, letter);
    }
}

#[tokio::test]
async fn max_html_with_unknown_or_unbalanced_tags_is_refused() {
    let db = frozen().await;
    for (text, visible) in [
        ("<h1>a</h1><h4>b</h4> <mark>c</mark>", "ab c"),
        ("<blockquote>a</blockquote><a href=\"https://x.org\">b</a>", "ab"),
        ("<pre>a</pre> <code>b</code> <INS>c</ins>", "a b c"),
        ("a&nbsp;b &lt;c&gt; &amp;amp;", "a\u{a0}b <c> &amp;"),
        ("plain", "plain"),
    ] {
        assert_eq!(read(&db, "read_html", "max", text).await.as_deref(), Ok(visible), "{text}");
    }
    for text in
        ["<p>x</p>", "<br>", "<tg-spoiler>x</tg-spoiler>", "<b>x", "x</b>", "<b><i>x</b></i>", "<b>x</>", "1 < 2", "<h5>x</h5>"]
    {
        assert!(read(&db, "read_html", "max", text).await.is_err(), "{text}");
    }
    assert!(read(&db, "read_html", "icq", "<b>x</b>").await.is_err());
}

#[tokio::test]
async fn legacy_markdown_is_read_as_telegram_reads_it() {
    let accepted = [
        ("a.b-c!", "a.b-c!"),
        ("🏟*b* _i_ `c`", "🏟b i c"),
        ("\\*a\\_ \\x \\", "*a_ \\x \\"),
        ("*a _b_ c*", "a _b_ c"),
        ("**x ``y __z", "x y z"),
        ("```rust\nlet `x`;``` ```y``` ```\r\nz```", "let `x`; y z"),
        ("[t](telegram.org) [u](x", "t u"),
        ("[t] [](x)", "t (x)"),
        ("``````x", "x"),
    ];
    let refused = ["🏟 *a", "a_b", "`x", "[x", "```x", "```x``", "`````", "*a* _", "*a\\_", "[a\\"];
    let texts: Vec<String> = accepted.iter().map(|(text, _)| *text).chain(refused).map(str::to_owned).collect();
    assert_eq!(assert_agreement("read_markdown", "Markdown", &texts).await, accepted.len());
    let db = frozen().await;
    for (text, visible) in accepted {
        assert_eq!(read(&db, "read_markdown", "telegram", text).await.as_deref(), Ok(visible), "{text}");
    }
    let router = simulators::Simulators::new().router();
    for text in refused {
        assert_eq!(read(&db, "read_markdown", "telegram", text).await, send(&router, "Markdown", text).await, "{text}");
    }
}

#[tokio::test]
async fn any_markdown_is_taken_or_refused_as_telegram_does() {
    const PIECES: [&str; 20] = [
        "*", "_", "`", "``", "```", "[", "]", "](", "(", ")", "\\", " ", "\n", "\r\n", "x", "Я", "🏟", "*b*", "```py\n", "[t](u)",
    ];
    let mut random = Random::new(2);
    let texts: Vec<String> =
        (0..4000).map(|_| (0..=random.below(10)).map(|_| PIECES[random.below(PIECES.len())]).collect()).collect();
    let accepted = assert_agreement("read_markdown", "Markdown", &texts).await;
    println!("{accepted} of {} texts accepted", texts.len());
    assert!(accepted > texts.len() / 5 && accepted < texts.len() * 4 / 5);
}

#[tokio::test]
async fn max_markdown_is_never_refused() {
    let db = frozen().await;
    for text in ["*a", "[x", "```", "^^mark^^ ++u++ **b**"] {
        assert_eq!(read(&db, "read_markdown", "max", text).await.as_deref(), Ok(text));
    }
}

#[tokio::test]
async fn the_time_that_the_longest_html_takes_is_printed() {
    let db = frozen().await;
    let mut connection = db.owner().await;
    let text = "Привет, <b>мир</b> &amp; <a href=\"https://x.org/?a=1&amp;b=2\">link</a>, ещё немного текста. ".repeat(46);
    let texts = vec![text.chars().take(4080).collect::<String>() + "x"; 100];
    read_all(&mut connection, "read_html", "telegram", &texts).await;
    let start = Instant::now();
    read_all(&mut connection, "read_html", "telegram", &texts).await;
    println!("read_html of {} characters: {:?}", texts[0].chars().count(), start.elapsed() / 100);
}
