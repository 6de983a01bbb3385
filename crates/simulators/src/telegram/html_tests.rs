//! Every text of the HTML parser, with its byte offset, and what well-formed markup turns into.

use super::super::entity::Kind;
use super::parse;

#[test]
fn every_html_error_has_its_text_and_its_byte_offset() {
    for (source, message) in [
        ("🏟 🏟&lt;<abacaba", "Unclosed start tag at byte offset 13"),
        ("🏟 🏟&lt;<abac aba>", "Unsupported start tag \"abac\" at byte offset 13"),
        ("a < b", "Unsupported start tag \"\" at byte offset 2"),
        ("<br>", "Unsupported start tag \"br\" at byte offset 0"),
        ("<b/>", "Unsupported start tag \"b/\" at byte offset 0"),
        ("<b />", "Empty attribute name in the tag \"b\" at byte offset 0"),
        ("<b \"x\">", "Empty attribute name in the tag \"b\" at byte offset 0"),
        ("🏟 🏟&lt;<i   =aba>", "Empty attribute name in the tag \"i\" at byte offset 13"),
        ("🏟 🏟&lt;<i    aba>", "Can't find end tag corresponding to start tag \"i\""),
        ("🏟 🏟&lt;<i    aba  =  ", "Unclosed start tag \"i\" at byte offset 13"),
        ("Hello <span class", "Unclosed start tag \"span\" at byte offset 6"),
        ("🏟 🏟&lt;<i    aba  =  190azAz-.,", "Unexpected end of name token at byte offset 27"),
        ("🏟 🏟&lt;<i    aba  =  \"&lt;&gt;&quot;>", "Unclosed start tag at byte offset 13"),
        ("<span class=\"red\">x</span>", "Tag \"span\" must have class \"tg-spoiler\" at byte offset 0"),
        ("🏟 🏟&lt;</", "Unexpected end tag at byte offset 13"),
        ("<b></b></b>", "Unexpected end tag at byte offset 7"),
        ("🏟 🏟&lt;<i>a</i   ", "Unclosed end tag at byte offset 17"),
        ("<b><i>x</b></i>", "Unmatched end tag at byte offset 7, expected \"</i>\", found \"</b>\""),
        ("<b>x", "Can't find end tag corresponding to start tag \"b\""),
        ("<tg-emoji emoji-id=\"x\">y</tg-emoji>", "Invalid custom emoji identifier specified"),
        (
            "&#xDFDF;",
            "Text contains invalid Unicode characters after decoding HTML entities, check for unmatched surrogate \
             code units",
        ),
    ] {
        assert_eq!(parse(source).unwrap_err(), message, "{source}");
    }
}

#[test]
fn html_turns_into_plain_text_with_entities_in_utf16_units() {
    for (source, text, entities) in [
        ("", "", vec![]),
        ("1 > 0 & so on &nbsp; &ge;", "1 > 0 & so on &nbsp; &ge;", vec![]),
        ("&lt;&gt;&amp;&quot;&#65;&#x42;&#12345678;", "<>&\"AB&#12345678;", vec![]),
        ("🏟 🏟<i>🏟 &lt🏟</i>", "🏟 🏟🏟 <🏟", vec![(Kind::Italic, 5, 6)]),
        ("<B>x</B>", "x", vec![(Kind::Bold, 0, 1)]),
        ("<b></b>x", "x", vec![]),
        ("<b>x</>", "x", vec![(Kind::Bold, 0, 1)]),
        ("🏟 🏟<i>🏟 &gt;<b aba   =   caba>&lt🏟</b></i>", "🏟 🏟🏟 ><🏟", vec![(Kind::Italic, 5, 7), (Kind::Bold, 9, 3)]),
        ("<strong>a</strong><em>b</em>", "ab", vec![(Kind::Bold, 0, 1), (Kind::Italic, 1, 1)]),
        ("<s>a</s><strike>b</strike><del>c</del>", "abc", (0..3).map(|at| (Kind::Strikethrough, at, 1)).collect()),
        ("<u>a</u><ins>b</ins>", "ab", vec![(Kind::Underline, 0, 1), (Kind::Underline, 1, 1)]),
        (
            "<tg-spoiler>a</tg-spoiler><span class=\"tg-spoiler\">b</span>",
            "ab",
            vec![(Kind::Spoiler, 0, 1), (Kind::Spoiler, 1, 1)],
        ),
        ("<blockquote>a</blockquote>", "a", vec![(Kind::Blockquote, 0, 1)]),
        ("<blockquote expandable>a</blockquote>", "a", vec![(Kind::ExpandableBlockquote, 0, 1)]),
        ("<a href=\"nodots\">x</a>", "x", vec![]),
        ("<a href=\"tg://user?id=5\">x</a>", "x", vec![(Kind::TextMention, 0, 1)]),
        ("<code><i><b> </b></i></code>", " ", vec![(Kind::Code, 0, 1), (Kind::Bold, 0, 1), (Kind::Italic, 0, 1)]),
    ] {
        let parsed = parse(source).unwrap();
        let found: Vec<_> = parsed.entities.iter().map(|entity| (entity.kind, entity.offset, entity.length)).collect();
        assert_eq!((parsed.text.as_str(), found), (text, entities), "{source}");
    }
}

#[test]
fn a_link_keeps_its_decoded_address_or_takes_its_text() {
    for (source, url) in [
        ("<a href='telegram.org?&lt;'>x</a>", "http://telegram.org/?<"),
        ("<a>telegram.org</a>", "http://telegram.org/"),
        ("<a href=telegram.org>x</a>", "http://telegram.org/"),
    ] {
        let parsed = parse(source).unwrap();
        assert_eq!(parsed.entities[0].url.as_deref(), Some(url), "{source}");
    }
}

#[test]
fn pre_and_code_of_the_same_range_become_one_pre_with_a_language() {
    for (source, kinds, language) in [
        ("<pre><code class=\"language-fift\">x</code></pre>", vec![Kind::Pre], Some("fift")),
        ("<code class=\"language-fift\"><pre>x</pre></code>", vec![Kind::Pre], Some("fift")),
        ("<pre><code>x</code></pre>", vec![Kind::Pre, Kind::Code], None),
        ("<pre> <code class=\"language-fift\">x</code></pre>", vec![Kind::Pre, Kind::Code], None),
    ] {
        let parsed = parse(source).unwrap();
        assert_eq!(parsed.entities.iter().map(|entity| entity.kind).collect::<Vec<_>>(), kinds, "{source}");
        assert_eq!(parsed.entities[0].language.as_deref(), language, "{source}");
    }
}
