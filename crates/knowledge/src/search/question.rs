//! A question as the index of words is asked: which terms find candidates, what each term weighs, and the best score there could be.

use std::collections::{BTreeMap, HashMap};

use super::terms::{self, WEIGHT_MAX, WEIGHT_ONCE};

/// The share of the score below which a chunk answers nothing; 1 is a short text that has all of the question once. Measured with
/// `beresta knowledge eval`: docs/knowledge.md.
pub const SHARE_MIN: f64 = 0.4;

/// A word that holds the sentence together says little of what is asked.
const FUNCTION_WORD_WEIGHT: f64 = 0.1;
/// All pieces of a word together, beside its stem.
const PIECES_WEIGHT: f64 = 1.0;
/// The same of a word that no text has: it is misspelled, or inflected in a way that the stemmer does not know, and its pieces are
/// all there is.
const UNKNOWN_WORD_PIECES_WEIGHT: f64 = 3.0;
/// What they could bring at the best: of a misspelled word only some of the pieces are right.
const UNKNOWN_WORD_PIECES_BEST: f64 = 2.0;
/// Words of a question that count; a pasted page is not a question.
const WORDS_MAX: usize = 64;
/// In a small workspace a word that one of five messages has is no common word: as if there were so many other chunks without it.
const OTHER_CHUNKS: i64 = 200;
/// Chunks that are looked at for one question.
const CANDIDATES_MAX: i64 = 20_000;

/// The different words of a question.
#[derive(Clone, Debug)]
pub(crate) struct QuestionTerms(Vec<QuestionWord>);

#[derive(Clone, Debug)]
struct QuestionWord {
    stem: i32,
    pieces: Vec<i32>,
    is_function: bool,
}

/// A question that can be asked.
#[derive(Clone, Debug)]
pub(crate) struct WeighedQuestion {
    /// As pgvector reads a sparse vector.
    pub(crate) weights: String,
    /// The score of a short text that has each of its terms once.
    pub(crate) best: f64,
    /// The terms that find candidates.
    pub(crate) candidates: Vec<i32>,
}

impl QuestionTerms {
    pub(crate) fn of(question: &str) -> Self {
        let mut seen = std::collections::HashSet::new();
        let words = terms::words(question).into_iter().filter(|word| seen.insert(word.form.clone())).take(WORDS_MAX);
        Self(
            words
                .map(|word| QuestionWord {
                    stem: terms::stem(&word),
                    pieces: terms::pieces(&word),
                    is_function: word.is_function,
                })
                .collect(),
        )
    }

    /// Every term, to ask how rare it is.
    pub(crate) fn all(&self) -> Vec<i32> {
        let mut all: Vec<i32> =
            self.0.iter().flat_map(|word| std::iter::once(word.stem).chain(word.pieces.iter().copied())).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Weighs the terms by how many of the workspace's chunks have them. Without words there is nothing to ask.
    pub(crate) fn weigh(&self, chunks: i64, frequencies: &HashMap<i32, i64>) -> Option<WeighedQuestion> {
        let frequency = |term: i32| frequencies.get(&term).copied().unwrap_or_default().min(chunks);
        let mut weights = BTreeMap::<i32, f64>::new();
        for word in &self.0 {
            let own = if word.is_function { FUNCTION_WORD_WEIGHT } else { 1.0 };
            let weight = weights.entry(word.stem).or_default();
            *weight = weight.max(own);
        }
        let mut best: f64 = weights.iter().map(|(term, weight)| weight * rarity(chunks, frequency(*term))).sum();
        for word in &self.0 {
            let (together, at_best) = if frequency(word.stem) > 0 {
                (PIECES_WEIGHT, PIECES_WEIGHT)
            } else {
                (UNKNOWN_WORD_PIECES_WEIGHT, UNKNOWN_WORD_PIECES_BEST)
            };
            for piece in &word.pieces {
                *weights.entry(*piece).or_default() += together / real(word.pieces.len());
                best += at_best / real(word.pieces.len()) * rarity(chunks, frequency(*piece));
            }
        }
        for (term, weight) in &mut weights {
            *weight *= rarity(chunks, frequency(*term));
        }
        best *= WEIGHT_ONCE;
        (best > 0.0).then(|| WeighedQuestion {
            candidates: candidates(&weights, best, frequency),
            weights: terms::sparse(weights.into_iter()),
            best,
        })
    }
}

/// The terms that find every chunk whose share of the best score reaches [`SHARE_MIN`]: what has none of them cannot get there with
/// all the others together. Those that find much for few rows come first. A question of common words only is cut off at a number
/// of rows.
fn candidates(weights: &BTreeMap<i32, f64>, best: f64, frequency: impl Fn(i32) -> i64) -> Vec<i32> {
    let terms = weights.iter().map(|(term, weight)| (*term, *weight, frequency(*term)));
    // What is in no chunk finds none, and adds to the score of none.
    let mut terms: Vec<(i32, f64, i64)> = terms.filter(|(.., frequency)| *frequency > 0).collect();
    terms.sort_by(|a, b| (b.1 / whole(b.2 + 1)).total_cmp(&(a.1 / whole(a.2 + 1))));
    let mut rest: f64 = terms.iter().map(|(_, weight, _)| weight).sum();
    // Where nothing can get there, the best of what there is.
    let enough = SHARE_MIN / WEIGHT_MAX * best.min(rest * WEIGHT_ONCE);
    let (mut rows, mut chosen) = (0, Vec::new());
    for (term, weight, frequency) in terms {
        if rest <= enough || (rows > 0 && rows + frequency > CANDIDATES_MAX) {
            break;
        }
        rest -= weight;
        rows += frequency;
        chosen.push(term);
    }
    chosen
}

/// How much it says that a text has a term: the inverse document frequency of BM25.
fn rarity(chunks: i64, frequency: i64) -> f64 {
    ((whole(chunks + OTHER_CHUNKS - frequency) + 0.5) / (whole(frequency) + 0.5)).ln_1p()
}

#[expect(clippy::cast_precision_loss, reason = "a weight needs no more digits than an f64 has")]
fn whole(number: i64) -> f64 {
    number as f64
}

#[expect(clippy::cast_precision_loss, reason = "a word has few pieces")]
fn real(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_without_words_asks_nothing() {
        assert!(QuestionTerms::of("?! …").weigh(10, &HashMap::new()).is_none());
        assert!(QuestionTerms::of("").all().is_empty());
    }

    #[test]
    fn a_rare_word_finds_candidates_and_a_common_one_does_not() {
        let question = QuestionTerms::of("цена короба");
        let (common, rare) = (question.0[0].stem, question.0[1].stem);
        let mut frequencies: HashMap<i32, i64> = question.all().into_iter().map(|term| (term, 900)).collect();
        frequencies.insert(rare, 2);
        for piece in &question.0[1].pieces {
            frequencies.insert(*piece, 3);
        }
        let weighed = question.weigh(1000, &frequencies).unwrap();
        assert!(weighed.candidates.contains(&rare) && !weighed.candidates.contains(&common), "{weighed:?}");
    }

    #[test]
    fn the_pieces_of_a_word_that_no_text_has_stand_for_it() {
        let question = QuestionTerms::of("доствака");
        let known: HashMap<i32, i64> = question.all().into_iter().map(|term| (term, 1)).collect();
        let mut unknown = known.clone();
        unknown.remove(&question.0[0].stem);
        let piece = |frequencies: &HashMap<i32, i64>| question.weigh(100, frequencies).unwrap().weights;
        assert_ne!(piece(&known), piece(&unknown));
    }

    #[test]
    fn what_has_no_candidate_term_cannot_reach_the_share() {
        let question = QuestionTerms::of("когда привезут берестяные короба в Новгород");
        let frequencies: HashMap<i32, i64> =
            (1..).step_by(7).zip(question.all()).map(|(frequency, term)| (term, frequency)).collect();
        let weighed = question.weigh(1000, &frequencies).unwrap();
        let rest: f64 = weighed
            .weights
            .trim_start_matches('{')
            .split_once('}')
            .unwrap()
            .0
            .split(',')
            .filter_map(|entry| entry.split_once(':'))
            .filter(|(term, _)| !weighed.candidates.contains(&term.parse().unwrap()))
            .map(|(_, weight)| weight.parse::<f64>().unwrap())
            .sum();
        assert!(rest * WEIGHT_MAX <= weighed.best * SHARE_MIN + 0.01, "{rest} of {}", weighed.best);
    }
}
