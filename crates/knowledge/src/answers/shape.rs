//! The words of an answer as a chat shows them: statements with the numbers of their sources, the sources, in pieces that fit.
//!
//! Guarantee: what comes from a source or a model cannot become a link, a mention or a command in the chat; the addresses under
//! "Источники" are those of the sources themselves.

use unicode_segmentation::UnicodeSegmentation;

use super::compose::{Statement, one_line};
use crate::search::{FoundChunks, SourceRef};

/// As Telegram counts a message.
const PIECE_UNITS_MAX: usize = 4000;
/// Characters of one line of the list of sources, beside its address.
const SOURCE_CHARS_MAX: usize = 120;
/// Stands inside a word and is not seen; clients then take no link, mention or command for one.
const JOINER: char = '\u{2060}';

/// The language that an answer is framed in: that of the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerLanguage {
    Russian,
    English,
}

impl AnswerLanguage {
    pub(super) fn of(question: &str) -> Self {
        let is_cyrillic = |letter: char| matches!(letter, 'а'..='я' | 'А'..='Я' | 'ё' | 'Ё');
        let has_latin = question.chars().any(|letter| letter.is_ascii_alphabetic());
        if has_latin && !question.contains(is_cyrillic) { Self::English } else { Self::Russian }
    }

    const fn sources(self) -> &'static str {
        match self {
            Self::Russian => "Источники:",
            Self::English => "Sources:",
        }
    }
}

/// An answer that can be stored and sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShapedAnswer {
    pub(super) text: String,
    /// The places in [`FoundChunks::hits`] of what is cited, in the order of their numbers.
    pub(super) cited: Vec<usize>,
    pub(super) pieces: Vec<String>,
}

/// Statements and their sources. The numbers are those of the list below them.
pub(super) fn answer(statements: &[Statement], found: &FoundChunks, language: AnswerLanguage) -> ShapedAnswer {
    let mut cited: Vec<usize> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for statement in statements {
        let mut numbers: Vec<usize> = Vec::new();
        for source in &statement.sources {
            let at = cited.iter().position(|known| known == source).unwrap_or_else(|| {
                cited.push(*source);
                cited.len() - 1
            });
            numbers.push(at + 1);
        }
        let marks: Vec<String> = numbers.iter().map(|number| format!("[{number}]")).collect();
        lines.push(format!("{} {}", plain(&statement.text), marks.concat()));
    }
    let body = if let [only] = lines.as_slice() {
        only.clone()
    } else {
        lines.iter().map(|line| format!("• {line}")).collect::<Vec<_>>().join("\n")
    };
    let sources: Vec<String> =
        cited.iter().enumerate().map(|(at, hit)| format!("{}. {}", at + 1, source(&found.hits[*hit].source_ref))).collect();
    let text = format!("{body}\n\n{}\n{}", language.sources(), sources.join("\n"));
    ShapedAnswer { pieces: pieces(&text), text, cited }
}

/// What is said where too little was found: what was searched, and nothing else.
pub(super) fn refusal(is_group: bool, chats: usize, language: AnswerLanguage) -> ShapedAnswer {
    let groups = chats.saturating_sub(1);
    let text = match (language, is_group) {
        (AnswerLanguage::Russian, true) => {
            "Об этом ничего не нашлось: искал в том, чем делился этот чат. Попробуйте спросить другими словами.".to_owned()
        }
        (AnswerLanguage::Russian, false) => format!(
            "Об этом ничего не нашлось: искал в вашей переписке с ботом и в чатах, где вы состоите ({groups}). Попробуйте спросить другими \
             словами."
        ),
        (AnswerLanguage::English, true) => {
            "Nothing was found about this in what this chat has shared. Try to ask in other words.".to_owned()
        }
        (AnswerLanguage::English, false) => format!(
            "Nothing was found about this in your messages to the bot and in the chats that you are in ({groups}). Try to ask in other words."
        ),
    };
    ShapedAnswer { pieces: vec![text.clone()], text, cited: Vec::new() }
}

/// A source in one line: who and when, or what it is called, and where it opens.
fn source(source: &SourceRef) -> String {
    let mark = source.mark.as_ref().and_then(|mark| {
        let word = match mark["kind"].as_str()? {
            "page" => "стр.",
            "slide" => "слайд",
            "sheet" => "лист",
            _ => return None,
        };
        let number = &mark["number"];
        let shown = number.as_str().map_or_else(|| number.to_string(), ToOwned::to_owned);
        Some(format!("{word} {shown}"))
    });
    let name = match source.kind.as_str() {
        "message" => source.author.clone().or_else(|| Some("сообщение".to_owned())),
        "file" => source.file_name.clone().or_else(|| source.title.clone()).or_else(|| Some("файл".to_owned())),
        _ => source.title.clone().or_else(|| Some("страница".to_owned())),
    };
    let facts: Vec<String> = [name, mark, source.date.clone()].into_iter().flatten().collect();
    let facts = plain(&one_line(&facts.join(", "), SOURCE_CHARS_MAX));
    match &source.link {
        Some(link) => format!("{facts} — {link}"),
        None => facts,
    }
}

/// A text without anything that a client turns into a link, a mention or a command, and on one line.
pub(super) fn plain(text: &str) -> String {
    // The numbers of sources are ours.
    let text = text.replace('[', "(").replace(']', ")");
    let line = text.split_whitespace().map(plain_word).collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control() && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')).collect()
}

fn plain_word(word: &str) -> String {
    let lower = word.to_lowercase();
    if lower.contains("://") || lower.contains("www.") || lower.contains("t.me/") || lower.contains("tg:") {
        return "[ссылка]".to_owned();
    }
    let mut safe = String::with_capacity(word.len() + 4);
    let mut before = None;
    let letters: Vec<char> = word.chars().collect();
    for (at, letter) in letters.iter().copied().enumerate() {
        safe.push(letter);
        let next = letters.get(at + 1).copied();
        let joins = match letter {
            // A mention, a command, a hashtag or a cashtag.
            '@' | '/' | '#' | '$' => next.is_some_and(char::is_alphanumeric),
            // A host: a dot between a word and a word that begins with a letter.
            '.' => before.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphabetic),
            _ => false,
        };
        if joins {
            safe.push(JOINER);
        }
        before = Some(letter);
    }
    safe
}

/// Pieces that a chat takes, cut between lines, then between words, and never inside a grapheme.
fn pieces(text: &str) -> Vec<String> {
    let units = |part: &str| part.encode_utf16().count();
    let mut all: Vec<String> = vec![String::new()];
    for line in text.split_inclusive('\n') {
        for part in if units(line) > PIECE_UNITS_MAX { line.split_word_bounds().collect() } else { vec![line] } {
            for grapheme in if units(part) > PIECE_UNITS_MAX { part.graphemes(true).collect() } else { vec![part] } {
                if let Some(last) = all.last_mut() {
                    if units(last) + units(grapheme) > PIECE_UNITS_MAX && !last.is_empty() {
                        all.push(grapheme.to_owned());
                    } else {
                        last.push_str(grapheme);
                    }
                }
            }
        }
    }
    all.into_iter().map(|piece| piece.trim().to_owned()).filter(|piece| !piece.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::search::Hit;

    fn hit(source_ref: SourceRef) -> Hit {
        Hit {
            rank: 1,
            chunk_id: 1,
            document_id: 1,
            score: 1.0,
            words: 1.0,
            vector: None,
            text: String::new(),
            source_ref,
            answers_chunk: None,
            around: Vec::new(),
            also: Vec::new(),
        }
    }

    #[test]
    fn sources_are_numbered_once_and_in_the_order_in_which_they_are_cited() {
        let message = SourceRef {
            kind: "message".into(),
            author: Some("Анна Орлова".into()),
            date: Some("2026-03-01".into()),
            link: Some("https://t.me/c/1/7".into()),
            ..SourceRef::default()
        };
        let file = SourceRef {
            kind: "file".into(),
            file_name: Some("прайс.pdf".into()),
            mark: Some(json!({"kind": "page", "number": 2})),
            ..SourceRef::default()
        };
        let found = FoundChunks { hits: vec![hit(message), hit(file)], audience: vec![1], share: 1.0, took_ms: 1 };
        let statements = [
            Statement { text: "Короб стоит 1200".into(), sources: vec![1] },
            Statement { text: "Скидка десять процентов".into(), sources: vec![1, 0] },
        ];
        let shaped = answer(&statements, &found, AnswerLanguage::Russian);
        assert_eq!(
            shaped.text,
            "• Короб стоит 1200 [1]\n• Скидка десять процентов [1][2]\n\nИсточники:\n1. прайс.\u{2060}pdf, стр. 2\n2. Анна Орлова, \
             2026-03-01 — https://t.me/c/1/7"
        );
        assert_eq!(shaped.cited, [1, 0]);
    }

    #[test]
    fn nothing_of_a_source_becomes_a_link_a_mention_or_a_command() {
        for (said, shown) in [
            ("пишите @admin", "пишите @\u{2060}admin"),
            ("см. https://evil.example/x и evil.com", "см. [ссылка] и evil.\u{2060}com"),
            ("/start и #тег", "/\u{2060}start и #\u{2060}тег"),
            ("цена 1.5 руб., т.е. дорого", "цена 1.5 руб., т.\u{2060}е. дорого"),
            ("<b>жирно</b> *и так*", "<b>жирно</\u{2060}b> *и так*"),
            ("[текст](http://x.y)", "[ссылка]"),
            ("слово [1] и [2]", "слово (1) и (2)"),
            ("справа\u{202e}налево", "справаналево"),
        ] {
            assert_eq!(plain(said), shown, "{said}");
        }
    }

    #[test]
    fn a_long_answer_comes_in_pieces_that_telegram_takes() {
        for text in ["слово ".repeat(3000), "ё".repeat(9000), "😀".repeat(5000), "строка\n".repeat(2000)] {
            let all = pieces(&text);
            assert!(all.len() > 1 && all.iter().all(|piece| piece.encode_utf16().count() <= 4096), "{}", all.len());
            let kept: usize = all.iter().map(|piece| piece.chars().filter(|c| !c.is_whitespace()).count()).sum();
            assert_eq!(kept, text.chars().filter(|c| !c.is_whitespace()).count());
        }
    }

    #[test]
    fn a_refusal_says_what_was_searched_and_cites_nothing() {
        let language = AnswerLanguage::of;
        let shaped = refusal(false, 3, language("где?"));
        assert!(shaped.text.contains("(2)") && shaped.cited.is_empty());
        assert!(refusal(true, 1, language("where is it?")).text.starts_with("Nothing was found"));
        assert_eq!((language("а NDA где?"), language("42")), (AnswerLanguage::Russian, AnswerLanguage::Russian));
    }
}
