//! An answer without a model: the sentences that say most of what was asked, as they stand in their sources.

use std::collections::HashSet;

use unicode_segmentation::UnicodeSegmentation;

use crate::search::{FoundChunks, Hit, terms};

/// Something that is said, with the sources it rests on: places in [`FoundChunks::hits`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub text: String,
    pub sources: Vec<usize>,
}

const STATEMENTS_MAX: usize = 3;
/// A chunk that answers much less than the best one only distracts.
const SHARE_OF_BEST_MIN: f64 = 0.6;
/// A message of this length is quoted whole.
const WHOLE_CHARS_MAX: usize = 300;
const SENTENCE_CHARS_MAX: usize = 500;

/// The best sentences of the best chunks, each with its source. Where a question was found, what was answered to it says more.
pub(super) fn compose(question: &str, found: &FoundChunks) -> Vec<Statement> {
    let asked: HashSet<i32> = stems(question);
    let best = found.hits.first().map_or(0.0, |hit| hit.score);
    let mut said: Vec<Statement> = Vec::new();
    for (at, hit) in found.hits.iter().enumerate() {
        if said.len() == STATEMENTS_MAX || hit.score < best * SHARE_OF_BEST_MIN {
            break;
        }
        if hit.is_question() && found.hits.iter().any(|other| other.answers_chunk == Some(hit.chunk_id)) {
            continue;
        }
        let text = quote(&asked, hit);
        if !text.is_empty() && !said.iter().any(|known| known.text == text) {
            said.push(Statement { text, sources: vec![at] });
        }
    }
    said
}

/// What is quoted of a hit: all of a short text, otherwise its best sentence with the one that follows.
fn quote(asked: &HashSet<i32>, hit: &Hit) -> String {
    if hit.text.chars().count() <= WHOLE_CHARS_MAX {
        return one_line(&hit.text, WHOLE_CHARS_MAX);
    }
    let sentences: Vec<&str> = hit.text.unicode_sentences().collect();
    let scores: Vec<f64> = sentences.iter().map(|sentence| worth(asked, sentence)).collect();
    let best = (0..sentences.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]).then(b.cmp(a)));
    let Some(best) = best else { return one_line(&hit.text, WHOLE_CHARS_MAX) };
    // A short sentence seldom stands alone: "Да, с понедельника."
    let end = if sentences[best].chars().count() < WHOLE_CHARS_MAX / 2 { (best + 2).min(sentences.len()) } else { best + 1 };
    one_line(&sentences[best..end].concat(), SENTENCE_CHARS_MAX)
}

/// How much of what was asked a sentence says; among equals the shorter one says it better.
#[expect(clippy::cast_precision_loss, reason = "a sentence has few words")]
fn worth(asked: &HashSet<i32>, sentence: &str) -> f64 {
    let words = stems(sentence);
    let shared = words.intersection(asked).count() as f64;
    shared - words.len() as f64 / 1000.0
}

fn stems(text: &str) -> HashSet<i32> {
    terms::words(text).iter().filter(|word| !word.is_function).map(terms::stem).collect()
}

/// White space folded, cut at a word.
pub(super) fn one_line(text: &str, chars_max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= chars_max {
        return line;
    }
    let cut: String = line.graphemes(true).take(chars_max.saturating_sub(1)).collect();
    let end = cut.rfind(' ').filter(|end| *end > cut.len() / 2).unwrap_or(cut.len());
    format!("{}…", &cut[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::SourceRef;

    fn hit(text: &str, score: f64) -> Hit {
        Hit {
            rank: 1,
            chunk_id: 1,
            document_id: 1,
            score,
            words: score,
            vector: None,
            text: text.to_owned(),
            source_ref: SourceRef::default(),
            answers_chunk: None,
            around: Vec::new(),
            also: Vec::new(),
        }
    }

    fn found(hits: Vec<Hit>) -> FoundChunks {
        FoundChunks { hits, audience: vec![1], share: 0.9, took_ms: 1 }
    }

    #[test]
    fn a_short_message_is_quoted_whole_and_a_weak_hit_not_at_all() {
        let said = compose("когда доставка", &found(vec![hit("Доставка\nпо пятницам.", 0.9), hit("Доставка дорогая", 0.3)]));
        assert_eq!(said, [Statement { text: "Доставка по пятницам.".to_owned(), sources: vec![0] }]);
    }

    #[test]
    fn of_a_long_text_the_sentence_that_answers_is_quoted() {
        let filler = "Это предложение ни о чём особенном не говорит и только занимает место в длинном тексте. ".repeat(5);
        let text = format!(
            "{filler}Аренда стенда стоит двенадцать тысяч рублей за оба дня ярмарки, свет входит в цену, а место выбирают сами участники в порядке оплаты договора на стенд и никак иначе. {filler}"
        );
        let said = compose("сколько стоит аренда стенда", &found(vec![hit(&text, 0.8)]));
        assert!(said[0].text.starts_with("Аренда стенда стоит двенадцать"), "{said:?}");
        assert!(said[0].text.chars().count() <= SENTENCE_CHARS_MAX);
    }

    #[test]
    fn where_a_question_was_found_its_reply_is_the_answer() {
        let question = Hit { chunk_id: 7, ..hit("Когда привезут короба?", 0.9) };
        let reply = Hit { answers_chunk: Some(7), ..hit("Во вторник утром", 0.9) };
        let said = compose("когда привезут короба", &found(vec![question, reply]));
        assert_eq!(said, [Statement { text: "Во вторник утром".to_owned(), sources: vec![1] }]);
    }

    #[test]
    fn a_long_line_is_cut_at_a_word() {
        assert_eq!(one_line("раз  два\nтри", 20), "раз два три");
        assert_eq!(one_line("первое второе третье", 16), "первое второе…");
    }
}
