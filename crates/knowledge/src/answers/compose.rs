//! An answer without a model: the sentences that say most of what was asked, as they stand in their sources.

use std::collections::HashSet;

use llm::TextWord;
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
const SHARE_OF_BEST_MIN: f64 = 0.75;
/// A message of this length is quoted whole.
const WHOLE_CHARS_MAX: usize = 300;
/// Of a page or a file less: it is about many things.
const WHOLE_OF_A_DOCUMENT_CHARS_MAX: usize = 120;
const SHORT_CHARS_MAX: usize = 60;
const SENTENCE_CHARS_MAX: usize = 500;

/// The best sentences of the best chunks, each with its source. Where a question was found, what was answered to it says more.
pub(super) fn compose(question: &str, found: &FoundChunks) -> Vec<Statement> {
    let asked = terms::words(question);
    let best = found.hits.first().map_or(0.0, |hit| hit.score);
    let mut said: Vec<Statement> = Vec::new();
    for (at, hit) in found.hits.iter().enumerate() {
        if said.len() == STATEMENTS_MAX || hit.score < best * SHARE_OF_BEST_MIN {
            break;
        }
        // A question is no evidence of its answer; what was replied to it follows as a hit of its own.
        if hit.is_question() {
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
fn quote(asked: &[TextWord], hit: &Hit) -> String {
    let whole_chars_max = if hit.source_ref.kind == "message" { WHOLE_CHARS_MAX } else { WHOLE_OF_A_DOCUMENT_CHARS_MAX };
    if hit.text.chars().count() <= whole_chars_max {
        return one_line(&hit.text, WHOLE_CHARS_MAX);
    }
    // A heading and a cell of a table end with their line.
    let sentences: Vec<&str> = hit.text.lines().flat_map(UnicodeSegmentation::unicode_sentences).collect();
    let scores = worths(asked, &sentences);
    let best = (0..sentences.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]).then(b.cmp(a)));
    let Some(best) = best else { return one_line(&hit.text, WHOLE_CHARS_MAX) };
    // A short sentence seldom stands alone: "Да, с понедельника."
    let is_short = sentences[best].chars().count() < SHORT_CHARS_MAX;
    let end = if is_short { (best + 2).min(sentences.len()) } else { best + 1 };
    one_line(&sentences[best..end].join(" "), SENTENCE_CHARS_MAX)
}

/// How much of what was asked each sentence says. A word counts the more, the fewer of the sentences have it: that a contract is
/// about a warehouse says nothing of its deposit. Of a word in another form its pieces count.
#[expect(clippy::cast_precision_loss, reason = "a chunk has few sentences")]
fn worths(asked: &[TextWord], sentences: &[&str]) -> Vec<f64> {
    let of: Vec<HashSet<i32>> = sentences
        .iter()
        .map(|sentence| {
            terms::words(sentence).iter().flat_map(|word| std::iter::once(terms::stem(word)).chain(terms::pieces(word))).collect()
        })
        .collect();
    let rarity = |term: i32| {
        let having = of.iter().filter(|terms| terms.contains(&term)).count();
        if having == 0 { 0.0 } else { (1.0 + of.len() as f64 / having as f64).ln() }
    };
    let mut scores = vec![0.0; sentences.len()];
    for word in asked.iter().filter(|word| !word.is_function) {
        let pieces = terms::pieces(word);
        let each = 1.0 / pieces.len().max(1) as f64;
        for (term, weight) in std::iter::once((terms::stem(word), 1.0)).chain(pieces.into_iter().map(|piece| (piece, each))) {
            let rarity = rarity(term);
            for (score, terms) in scores.iter_mut().zip(&of) {
                *score += if terms.contains(&term) { weight * rarity } else { 0.0 };
            }
        }
    }
    // Among equals the shorter one says it better.
    scores.iter().zip(sentences).map(|(score, sentence)| score - sentence.len() as f64 / 100_000.0).collect()
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
    fn what_every_sentence_has_says_nothing_of_which_one_answers() {
        let text = "Договор аренды склада.\nАрендодатель предоставляет склад площадью 120 квадратных метров по адресу Береговая, 9.\n\
                    Арендная плата за склад составляет 45000 рублей в месяц.\nЗалог 90000 рублей.\nСклад возвращается за тридцать дней.";
        let mut file = hit(text, 0.8);
        file.source_ref.kind = "file".to_owned();
        for (question, wanted) in
            [("Какой залог за склад?", "Залог 90000"), ("Какая площадь склада?", "площадью 120"), ("арендная плата", "45000")]
        {
            let said = compose(question, &found(vec![file.clone()]));
            assert!(said[0].text.contains(wanted), "{question}: {said:?}");
        }
    }

    #[test]
    fn a_question_alone_is_no_answer() {
        assert!(compose("когда привезут", &found(vec![hit("Когда привезут принтер?", 0.9)])).is_empty());
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
