//! Every text of the MarkdownV2 parser, with its byte offset, and what well-formed markup turns into.

use super::super::entity::Kind;
use super::parse;

#[test]
fn every_reserved_character_without_a_meaning_must_be_escaped() {
    for reserved in "]()#+-=|{}.!".chars() {
        let message = format!("Character '{reserved}' is reserved and must be escaped with the preceding '\\'");
        assert_eq!(parse(&format!("a{reserved}b")).unwrap_err(), message);
        assert_eq!(parse(&format!("a\\{reserved}b")).unwrap().text, format!("a{reserved}b"));
    }
    let quote = "Character '>' is reserved and must be escaped with the preceding '\\'";
    assert_eq!(parse("a>b").unwrap_err(), quote);
    assert_eq!(parse(">\n*a*>2").unwrap_err(), quote);
}

#[test]
fn every_unclosed_entity_is_named_with_its_byte_offset() {
    for (source, message) in [
        ("🏟 🏟_abacaba", "Can't find end of Italic entity at byte offset 9"),
        ("🏟 🏟_abac * asd ", "Can't find end of Bold entity at byte offset 15"),
        ("🏟 🏟_abac * asd _", "Can't find end of Italic entity at byte offset 21"),
        ("~x", "Can't find end of Strikethrough entity at byte offset 0"),
        ("🏟 🏟`", "Can't find end of Code entity at byte offset 9"),
        ("🏟 🏟```", "Can't find end of Pre entity at byte offset 9"),
        ("🏟 🏟```a", "Can't find end of Pre entity at byte offset 9"),
        ("🏟 🏟```a ", "Can't find end of PreCode entity at byte offset 9"),
        ("🏟 🏟__🏟 🏟_", "Can't find end of Italic entity at byte offset 20"),
        ("🏟 🏟_🏟 🏟__", "Can't find end of Underline entity at byte offset 19"),
        ("🏟 🏟```🏟 🏟\\`", "Can't find end of PreCode entity at byte offset 9"),
        ("🏟 🏟||test\\|", "Can't find end of Spoiler entity at byte offset 9"),
        ("[x", "Can't find end of TextUrl entity at byte offset 0"),
        ("🏟 🏟![👍", "Can't find end of CustomEmoji entity at byte offset 9"),
        ("*>a", "Can't find end of Bold entity at byte offset 0"),
        (">*b\n>ld \n>bo\nld*\nasd\ndef", "Can't find end of Bold entity at byte offset 1"),
        (">asd\n>q||ew\n||asdad", "Can't find end of Spoiler entity at byte offset 7"),
        (">asd\n>q||e||w__\n||asdad", "Can't find end of Underline entity at byte offset 13"),
    ] {
        assert_eq!(parse(source).unwrap_err(), message, "{source}");
    }
}

#[test]
fn a_url_must_end_and_an_emoji_must_be_one() {
    for (source, message) in [
        ("[telegram\\.org](asd\\)", "Can't find end of a URL at byte offset 16"),
        ("[telegram\\.org](", "Can't find end of a URL at byte offset 16"),
        ("🏟 🏟![👍](tg://emoji?id=1234", "Can't find end of a URL at byte offset 17"),
        ("🏟 🏟![👍]", "The entity must contain a tg://emoji or tg://time URL"),
        ("🏟 🏟![👍](t://emoji?id=1234)", "Invalid tg://emoji or tg://time URL specified"),
        ("🏟 🏟![👍](tg://emoji?test=1231&id=025)", "Invalid tg://emoji or tg://time URL specified"),
    ] {
        assert_eq!(parse(source).unwrap_err(), message, "{source}");
    }
}

#[test]
fn markdown_v2_turns_into_plain_text_with_entities_in_utf16_units() {
    for (source, text, entities) in [
        ("\\\\\\\\\\_\\*\\`", "\\\\_*`", vec![]),
        ("\\➡️\\", "\\➡️\\", vec![]),
        ("🏟 🏟``", "🏟 🏟", vec![]),
        ("🏟 🏟**", "🏟 🏟", vec![]),
        ("🏟 🏟_🏟 __🏟___", "🏟 🏟🏟 🏟", vec![(Kind::Italic, 5, 5), (Kind::Underline, 8, 2)]),
        ("🏟 🏟```🏟\n🏟```", "🏟 🏟🏟", vec![(Kind::Pre, 5, 2)]),
        ("`_* *_`__*` `*__", "_* *_ ", vec![(Kind::Code, 0, 5), (Kind::Code, 5, 1), (Kind::Bold, 5, 1), (Kind::Underline, 5, 1)]),
        ("||test||~x~", "testx", vec![(Kind::Spoiler, 0, 4), (Kind::Strikethrough, 4, 1)]),
        ("[ ](as)", " ", vec![]),
        ("[telegram\\.org]a", "telegram.orga", vec![(Kind::TextLink, 0, 12)]),
        ("[x](tg://user?id=123456)", "x", vec![(Kind::TextMention, 0, 1)]),
        ("🏟 🏟![👍](tg://emoji?id=25)a", "🏟 🏟👍a", vec![(Kind::CustomEmoji, 5, 2)]),
        ("> \n> \n>", " \n \n", vec![(Kind::Blockquote, 0, 4)]),
        ("abc\n> \n> \n>\ndef", "abc\n \n \n\ndef", vec![(Kind::Blockquote, 4, 5)]),
        (">\n**>2", "\n2", vec![(Kind::Blockquote, 0, 1), (Kind::Blockquote, 1, 1)]),
        (">*abcd*\n", "abcd\n", vec![(Kind::Blockquote, 0, 5), (Kind::Bold, 0, 4)]),
        ("*>abcd\n*", "abcd\n", vec![(Kind::Blockquote, 0, 5), (Kind::Bold, 0, 5)]),
        (">asd\n>q||e||w||\nasdad", "asd\nqew\nasdad", vec![(Kind::ExpandableBlockquote, 0, 8), (Kind::Spoiler, 5, 1)]),
        (">asd\r\n>q||e||w||", "asd\r\nqew", vec![(Kind::ExpandableBlockquote, 0, 8), (Kind::Spoiler, 6, 1)]),
        (">||", "", vec![]),
    ] {
        let parsed = parse(source).unwrap();
        let found: Vec<_> = parsed.entities.iter().map(|entity| (entity.kind, entity.offset, entity.length)).collect();
        assert_eq!((parsed.text.as_str(), found), (text, entities), "{source}");
    }
}

#[test]
fn a_pre_block_keeps_its_language_and_a_link_its_unescaped_address() {
    assert_eq!(parse("```rust\nx```").unwrap().entities[0].language.as_deref(), Some("rust"));
    let link = parse("[x](https://telegram.dog?\\\\\\()").unwrap();
    assert_eq!(link.entities[0].url.as_deref(), Some("https://telegram.dog/?\\("));
}
