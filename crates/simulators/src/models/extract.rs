//! The answer by rule: finds the numbered sources and the question in a prompt, and quotes the sentence that has
//! most in common with the question, with the number of its source: `Delivery takes two days. [3]`.

use std::collections::BTreeMap;

use super::stems::stems;

/// Words that may stand before the number of a source, in small letters.
const SOURCE_WORDS: [&str; 12] = [
    "source",
    "document",
    "doc",
    "fragment",
    "passage",
    "chunk",
    "context",
    "источник",
    "документ",
    "фрагмент",
    "отрывок",
    "контекст",
];
const QUESTION_WORDS: [&str; 4] = ["question", "query", "вопрос", "запрос"];
/// The number stands this near to the word: `<source id="3">`.
const NUMBER_WITHIN_CHARS: usize = 16;
/// Less in common than one real word is nothing in common.
const OVERLAP_MIN: f32 = 1.0;
const NOTHING_FOUND: &str = "The sources do not answer this question.";

pub(crate) struct Found {
    pub(crate) text: String,
    /// The number of the quoted source.
    pub(crate) source: Option<u32>,
}

struct Source<'a> {
    number: u32,
    lines: Vec<&'a str>,
}

/// Answers a prompt of several texts, the instructions first and what the person said last.
pub(crate) fn answer(texts: &[&str]) -> Found {
    let last = texts.last().copied().unwrap_or_default();
    let marker = if texts.iter().any(|text| text.lines().any(|line| named(line).is_some())) { named } else { listed };
    let question = question(texts, marker);
    let sources = sources(texts, &question, marker);
    if sources.is_empty() {
        let asked = if question.is_empty() { last } else { question.as_str() };
        return Found { text: sentences(asked).next().unwrap_or_default().to_owned(), source: None };
    }
    let wanted: BTreeMap<String, f32> = stems(&question).collect();
    let overlap = |text: &str| {
        let common: BTreeMap<String, f32> = stems(text).filter(|(stem, _)| wanted.contains_key(stem)).collect();
        common.values().sum::<f32>()
    };
    let mut best: Option<(f32, u32, String)> = None;
    for source in &sources {
        let text = source.lines.join("\n");
        let score = overlap(&text);
        if score >= OVERLAP_MIN && best.as_ref().is_none_or(|(known, ..)| score > *known) {
            // The first of equals: max_by would take the last.
            let mut quoted = ("", -1.0);
            for sentence in sentences(&text) {
                let score = overlap(sentence);
                if score > quoted.1 {
                    quoted = (sentence, score);
                }
            }
            best = Some((score, source.number, quoted.0.to_owned()));
        }
    }
    match best {
        Some((_, number, text)) => Found { text: format!("{text} [{number}]"), source: Some(number) },
        None => Found { text: NOTHING_FOUND.to_owned(), source: None },
    }
}

type Marker = fn(&str) -> Option<(u32, &str)>;

/// A line that says it is the question; or else the last text, without the sources that stand in it.
fn question(texts: &[&str], marker: Marker) -> String {
    let labelled = texts.iter().rev().flat_map(|text| text.lines().rev()).find_map(|line| {
        let (label, rest) = line.split_once(':')?;
        let label = label.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
        QUESTION_WORDS.contains(&label.as_str()).then(|| rest.trim().to_owned()).filter(|rest| !rest.is_empty())
    });
    if let Some(question) = labelled {
        return question;
    }
    let last = texts.last().copied().unwrap_or_default().trim();
    let is_source = |text: &str| text.lines().any(|line| marker(line).is_some());
    if !is_source(last) {
        return last.to_owned();
    }
    let paragraph = last.rsplit("\n\n").next().unwrap_or_default();
    if !is_source(paragraph) && paragraph.len() < last.len() {
        return paragraph.trim().to_owned();
    }
    last.lines().take_while(|line| marker(line).is_none()).collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn sources<'a>(texts: &[&'a str], question: &str, marker: Marker) -> Vec<Source<'a>> {
    let mut sources: Vec<Source<'a>> = Vec::new();
    for text in texts {
        let mut is_inside = false;
        for line in text.lines() {
            let trimmed = line.trim();
            if let Some((number, rest)) = marker(line) {
                sources.push(Source { number, lines: vec![rest] });
                is_inside = true;
            } else if trimmed.starts_with("</") || trimmed.starts_with("---") || is_question(trimmed, question) {
                is_inside = false;
            } else if is_inside && let Some(source) = sources.last_mut() {
                source.lines.push(trimmed);
            }
        }
    }
    sources
}

fn is_question(line: &str, question: &str) -> bool {
    !line.is_empty() && !question.is_empty() && (line.ends_with(question) || question.contains(line))
}

/// `[3] …`, `Source 3: …`, `[Источник 3] …`, `<source id="3">…`.
fn named(line: &str) -> Option<(u32, &str)> {
    let line = line.trim_start();
    let inner = line.trim_start_matches(['[', '<', '#', '*', ' ']);
    let word_end = inner.find(|letter: char| !letter.is_alphabetic()).unwrap_or(inner.len());
    let word = inner[..word_end].to_lowercase();
    let (after, is_named) = if SOURCE_WORDS.contains(&word.as_str()) {
        let tail = &inner[word_end..];
        let digit = tail.char_indices().take(NUMBER_WITHIN_CHARS).find(|(_, letter)| letter.is_ascii_digit())?.0;
        (&tail[digit..], true)
    } else {
        (inner, line.starts_with('[') && word.is_empty())
    };
    let (number, rest) = number(after)?;
    (is_named || rest.starts_with(']')).then(|| (number, content(rest)))
}

/// `3. …` and `3) …`: only where nothing is marked better, because instructions are numbered like this too.
fn listed(line: &str) -> Option<(u32, &str)> {
    let (number, rest) = number(line.trim_start())?;
    rest.starts_with(['.', ')']).then(|| (number, content(rest)))
}

fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// What follows the number, without the closing of the mark.
fn content(rest: &str) -> &str {
    let rest = rest.trim_start_matches(['"', '\'', ']', '>', ')', '.', ':', '*', ' ']);
    rest.split_once("</").map_or(rest, |(text, _)| text).trim()
}

/// Sentences end at a stop before a space, or with the line: `1.5` and `example.com` are not two sentences.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(split).map(str::trim).filter(|sentence| sentence.chars().any(char::is_alphanumeric))
}

fn split(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, letter) in line.char_indices() {
        if letter == ' ' && line[start..at].ends_with(['.', '!', '?', '…']) {
            found.push(&line[start..at]);
            start = at;
        }
    }
    found.push(&line[start..]);
    found
}

#[cfg(test)]
mod tests {
    use super::answer;

    fn said(texts: &[&str]) -> (String, Option<u32>) {
        let found = answer(texts);
        (found.text, found.source)
    }

    #[test]
    fn the_best_sentence_of_the_best_source_is_quoted_with_its_number() {
        let rules = "Follow the rules:\n1. Answer only from the sources.\n2. Name the source.";
        let sources = "[1] Гарантия на товары — два года.\n[2] Магазин открыт до 20:00. Доставка по городу стоит 300 рублей.";
        let quoted = ("Доставка по городу стоит 300 рублей. [2]".to_owned(), Some(2));
        let asked = "Сколько стоит доставка по городу?";
        assert_eq!(said(&[rules, &format!("{sources}\n\nВопрос: {asked}")]), quoted);
        assert_eq!(said(&[rules, &format!("{sources}\n\n{asked}")]), quoted);
        assert_eq!(said(&[&format!("{rules}\n{sources}"), asked]), quoted);
        assert_eq!(said(&[&format!("{asked}\n{sources}")]), quoted);
    }

    #[test]
    fn sources_are_known_by_the_usual_marks() {
        for sources in [
            "Source 4: Delivery takes 1.5 days.\nSource 7: We have no branches.",
            "<source id=\"4\">Delivery takes 1.5 days.</source>\n<source id=\"7\">We have no branches.</source>",
            "[Источник 4]\nDelivery takes 1.5 days.\n\n[Источник 7]\nWe have no branches.",
            "4. Delivery takes 1.5 days.\n7. We have no branches.",
        ] {
            let prompt = format!("{sources}\n\nQuestion: How long does delivery take?");
            assert_eq!(said(&[&prompt]), ("Delivery takes 1.5 days. [4]".to_owned(), Some(4)), "{prompt}");
        }
    }

    #[test]
    fn without_a_match_no_source_is_quoted_and_without_sources_the_prompt_is() {
        let unknown = said(&["[1] Delivery takes two days.\n\nQuestion: Who wrote Hamlet?"]);
        assert_eq!(unknown, ("The sources do not answer this question.".to_owned(), None));
        assert_eq!(said(&["Be brief.", "Say hello. And more."]), ("Say hello.".to_owned(), None));
    }
}
