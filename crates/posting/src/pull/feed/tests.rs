//! Feeds as they are found outside, and feeds as an attacker would write them.

use proptest::prelude::*;

use super::*;

fn items(text: &str) -> Vec<Item> {
    read(text.as_bytes(), "https://example.org/feed.xml").unwrap()
}

fn rss(items: &str) -> String {
    format!(
        "<?xml version='1.0'?><rss version='2.0' xmlns:media='http://search.yahoo.com/mrss/'><channel><title>News</title>{items}</channel></rss>"
    )
}

#[test]
fn rss_gives_its_items_oldest_first_with_plain_words() {
    let found = items(&rss(
        "<item><guid>2</guid><title>Second &amp;amp; last</title><link>/2</link><pubDate>Mon, 02 Mar 2026 09:00:00 GMT</pubDate>
           <description>&lt;p&gt;Hello, &lt;b&gt;world&lt;/b&gt;&lt;/p&gt;</description></item>
         <item><guid>1</guid><title>First</title><link>https://example.org/1</link><pubDate>Sun, 01 Mar 2026 09:00:00 GMT</pubDate></item>",
    ));
    let keys: Vec<&str> = found.iter().map(|item| item.key.as_str()).collect();
    assert_eq!(keys, ["1", "2"]);
    assert_eq!(found[1].title.as_deref(), Some("Second & last"));
    assert_eq!(found[1].summary.as_deref(), Some("Hello, world"));
    assert_eq!(found[1].link.as_deref(), Some("https://example.org/2"));
    assert_eq!(found[1].published.unwrap().to_string(), "2026-03-02T09:00:00Z");
}

#[test]
fn atom_and_json_feed_are_read_as_well() {
    let atom = "<feed xmlns='http://www.w3.org/2005/Atom'><title>N</title><entry><id>urn:1</id><title>a &lt; b</title>
        <link href='https://example.org/1'/><link rel='enclosure' type='audio/mpeg' href='https://example.org/1.mp3'/>
        <updated>2026-03-02T09:00:00Z</updated><content type='html'>&lt;p&gt;Body&lt;/p&gt;</content></entry></feed>";
    let found = items(atom);
    assert_eq!(
        (found[0].key.as_str(), found[0].title.as_deref(), found[0].summary.as_deref()),
        ("urn:1", Some("a < b"), Some("Body"))
    );
    assert_eq!(found[0].media, [ItemMedia { kind: "audio", url: "https://example.org/1.mp3".into() }]);

    let json = r#"{"version": "https://jsonfeed.org/version/1.1", "title": "N", "items": [
        {"id": "7", "url": "https://example.org/7", "title": "Seven", "content_text": "words", "date_published": "2026-03-02T09:00:00Z"}]}"#;
    let found = items(json);
    assert_eq!((found[0].key.as_str(), found[0].summary.as_deref()), ("7", Some("words")));
}

#[test]
fn an_item_without_an_id_is_known_by_its_link_and_without_that_by_its_words() {
    let found = items(&rss("<item><title>c</title><description>d</description></item>
         <item><title>b</title><link>https://example.org/b</link></item>
         <item><guid>https://example.org/a</guid><title>a</title></item>"));
    assert_eq!(found[0].key, "https://example.org/a");
    assert_eq!(found[0].link.as_deref(), Some("https://example.org/a"));
    assert_eq!(found[1].key, "https://example.org/b");
    assert_eq!(found[2].key, hashed_key(&["c", "d"]));
}

#[test]
fn an_edited_title_does_not_make_a_new_item_and_one_key_counts_once() {
    let before = items(&rss("<item><guid>1</guid><title>Tytle</title></item>"));
    let after = items(&rss("<item><guid>1</guid><title>Title</title></item><item><guid> 1 </guid><title>Title</title></item>"));
    assert_eq!(before[0].key, after[0].key);
    assert_eq!(after.len(), 1);
}

#[test]
fn enclosures_and_media_content_become_media_and_a_thumbnail_only_stands_in() {
    let found = items(&rss("<item><guid>1</guid><enclosure url='https://example.org/a.jpg' type='image/jpeg' length='1'/>
           <media:content url='https://example.org/b.mp4' type='video/mp4'/><media:content url='https://example.org/a.jpg'/>
           <media:thumbnail url='https://example.org/t.jpg'/></item>"));
    let media: Vec<(&str, &str)> = found[0].media.iter().map(|media| (media.kind, media.url.as_str())).collect();
    assert_eq!(media.len(), 2, "{media:?}");
    assert!(media.contains(&("image", "https://example.org/a.jpg")) && media.contains(&("video", "https://example.org/b.mp4")));
    let found = items(&rss("<item><guid>1</guid><media:thumbnail url='https://example.org/t.jpg'/></item>"));
    assert_eq!(found[0].media, [ItemMedia { kind: "image", url: "https://example.org/t.jpg".into() }]);
    let found = items(&rss("<item><guid>1</guid><enclosure url='file:///etc/passwd' type='image/png'/></item>"));
    assert_eq!(found[0].media, []);
}

#[test]
fn what_is_not_a_feed_is_refused_with_what_to_do() {
    for text in ["<html><body>hello</body></html>", "just words", "", "<svg/>"] {
        let error = read(text.as_bytes(), "https://example.org/").unwrap_err();
        assert!(error.contains("give the address of the feed"), "{text}: {error}");
    }
    for text in ["{\"a\": 1}", "[1]", "<rss version='2.0'><channel><item>", "\u{1}<rss"] {
        read(text.as_bytes(), "https://example.org/").unwrap_err();
    }
}

#[test]
fn an_entity_bomb_does_not_explode() {
    let level = |n: usize| format!("<!ENTITY a{n} '{}'>", format!("&a{};", n - 1).repeat(10));
    let entities: String = std::iter::once("<!ENTITY a0 'ha'>".to_owned()).chain((1..12).map(level)).collect();
    let bomb = format!(
        "<?xml version='1.0'?><!DOCTYPE rss [{entities}<!ENTITY x SYSTEM 'file:///etc/passwd'>]><rss version='2.0'><channel><item><guid>1</guid><title>&a11;&x;</title></item></channel></rss>"
    );
    // Whether the parser refuses the unknown entity or keeps its name, nothing grows and no file is read.
    if let Ok(found) = read(bomb.as_bytes(), "https://example.org/") {
        let title = found.first().and_then(|item| item.title.clone()).unwrap_or_default();
        assert!(!title.contains("hahaha") && !title.contains("root:"), "{title}");
    }
}

#[test]
fn xhtml_and_texts_that_repeat_the_title_read_as_a_person_would_read_them() {
    let found = items(
        "<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>1</id><title type='html'>A &amp;amp; B</title>
         <content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>One <b>bold</b> word, 1 &lt; 2.</p><p>Two</p></div></content>
         </entry><entry><id>2</id><title>Same</title><summary>Same</summary></entry></feed>",
    );
    assert_eq!(found[1].title.as_deref(), Some("A & B"));
    assert_eq!(found[1].summary.as_deref(), Some("One bold word, 1 < 2.\n\nTwo"));
    assert_eq!((found[0].title.as_deref(), found[0].summary.as_deref()), (Some("Same"), None));
}

#[test]
fn old_and_sloppy_feeds_are_read() {
    let rdf = "<rdf:RDF xmlns:rdf='x' xmlns='y'><channel/><item><title>AT&T &nbsp;news</title><link>https://example.org/a?b=1&amp;c=2</link>
        <dc:date>2026-03-02T09:00:00+03:00</dc:date></item></rdf:RDF>";
    let found = items(rdf);
    assert_eq!(found[0].key, "https://example.org/a?b=1&c=2");
    assert_eq!(found[0].title.as_deref(), Some("AT&T news"));
    assert_eq!(found[0].published.unwrap().to_string(), "2026-03-02T06:00:00Z");
    for (text, expected) in [
        ("Mon, 2 Mar 2026 09:00:00 UTC", Some("2026-03-02T09:00:00Z")),
        ("Sun, 02 Mar 2026 09:00:00 +0300", Some("2026-03-02T06:00:00Z")),
        ("02 Mar 2026 09:00 GMT", Some("2026-03-02T09:00:00Z")),
        ("2026-03-02T09:00:00", Some("2026-03-02T09:00:00Z")),
        ("2026-03-02", Some("2026-03-02T00:00:00Z")),
        ("some time ago", None),
    ] {
        assert_eq!(time(text).map(|time| time.to_string()).as_deref(), expected, "{text}");
    }
}

#[test]
fn what_would_make_a_careless_reader_slow_or_large_is_read_in_linear_time() {
    let started = std::time::Instant::now();
    let long = "x".repeat(1 << 20);
    let groups = format!(
        "<media:group><media:description>{long}</media:description>{}</media:group>",
        "<media:group><media:content url='https://example.org/a.jpg'/></media:group>".repeat(50_000)
    );
    let attributes: String = std::iter::repeat_n(" a='b'", 200_000).collect();
    let namespaces =
        format!("<x{}>{}</x>", std::iter::repeat_n(" xmlns:abc='d'", 50_000).collect::<String>(), "<y/>".repeat(200_000));
    let base = format!("<x xml:base='http://{long}/'>{}</x>", "<y/>".repeat(100_000));
    for inside in [groups, format!("<enclosure{attributes}/>"), namespaces, base] {
        let found = items(&rss(&format!("<item><guid>1</guid>{inside}</item>")));
        assert!(found[0].media.len() <= 20);
    }
    assert!(items(&rss(&"<item/>".repeat(500_000))).len() <= 10_000);
    let title = items(&rss(&format!("<item><title>{long}</title></item>")))[0].title.clone().unwrap();
    assert_eq!(title.chars().count(), 300);
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let depth = 200_000;
    for tag in ["a", "media:group", "item", "description", "media:content"] {
        let deep = format!("{}{}", format!("<{tag}>").repeat(depth), format!("</{tag}>").repeat(depth));
        let _ = read(rss(&format!("<item><guid>1</guid>{deep}</item>")).as_bytes(), "https://example.org/");
    }
    let atom = format!(
        "<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>1</id><content type='xhtml'>{}{}</content></entry></feed>",
        "<div>".repeat(depth),
        "</div>".repeat(depth)
    );
    let _ = read(atom.as_bytes(), "https://example.org/");
    let json =
        format!("{{\"version\": \"https://jsonfeed.org/version/1.1\", \"x\": {}{}}}", "[".repeat(depth), "]".repeat(depth));
    let _ = read(json.as_bytes(), "https://example.org/");
}

#[test]
fn other_encodings_and_control_characters_are_read() {
    let text = "<?xml version='1.0' encoding='windows-1251'?><rss version='2.0'><channel><item><guid>1</guid><title>";
    let mut bytes = text.as_bytes().to_vec();
    bytes.extend([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]);
    bytes.extend(b"</title></item></channel></rss>");
    let found = read(&bytes, "https://example.org/").unwrap();
    assert_eq!(found[0].title.as_deref(), Some("Привет"));
}

/// Pieces that mean something to a reader of feeds, and some that mean nothing.
fn pieces() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "<?xml version='1.0' encoding=“utf-8”?>",
        "<?xml version='1.0' encoding='utf-16'?>",
        "<rss version='2.0'>",
        "<channel>",
        "<item>",
        "</item>",
        "<entry>",
        "</entry>",
        "<feed>",
        "<title>",
        "</title>",
        "<title type='xhtml'>",
        "<link href='",
        "<link>",
        "</link>",
        "<guid>",
        "</guid>",
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "&amp;",
        "&#x41;",
        "&#xd800;",
        "&",
        "&é;",
        "<enclosure url='é' type='",
        "'/>",
        "\"",
        "<é>",
        "</",
        "<script>",
        "<p>",
        "{\"version\": \"jsonfeed.org\"",
        ", \"items\": [{",
        "\"id\": 1}]}",
        "\u{feff}",
        "\0",
    ]);
    let piece = prop_oneof![4 => known.prop_map(ToOwned::to_owned), 1 => any::<String>()];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_feed_makes_the_reader_panic_or_post_what_cannot_be_stored(text in pieces(), head in prop::bool::ANY) {
        let text = if head { format!("<rss version='2.0'><channel><item>{text}</item></channel></rss>") } else { text };
        for item in read(text.as_bytes(), "https://example.org/feed").unwrap_or_default() {
            prop_assert!(!item.key.is_empty() && item.key.len() <= 512);
            let words = [Some(item.key), item.title, item.summary, item.link].into_iter().flatten();
            prop_assert!(words.into_iter().all(|text| !text.contains('\0')));
        }
        plain::from_html(&text);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes: Vec<u8>) {
        let _ = read(&bytes, "https://example.org/feed");
    }
}
