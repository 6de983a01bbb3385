//! The figures of an evaluation.

use std::time::Duration;

use serde::Serialize;

use super::RANKS;

/// What was measured. Shares are 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EvalReport {
    pub paragraphs: usize,
    pub questions: usize,
    pub foreign: usize,
    /// The provider and name of the model whose vectors were there.
    pub model: String,
    pub recall_at_1: f64,
    pub recall_at_5: f64,
    pub mrr_at_10: f64,
    /// How well the best share tells questions that have an answer from those that have none; nothing without such questions.
    pub refusal_auroc: Option<f64>,
    /// Of each kind, the part that the threshold refuses.
    pub refused_answerable: f64,
    pub refused_foreign: Option<f64>,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub load_seconds: f64,
}

/// One question and what was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct AskedOnce {
    pub(super) is_answerable: bool,
    /// Where its paragraph came, from zero.
    pub(super) rank: Option<usize>,
    pub(super) share: f64,
    pub(super) is_refused: bool,
    pub(super) took: Duration,
}

#[derive(Debug, Default)]
pub(super) struct EvalTally {
    ranks: Vec<Option<usize>>,
    answerable: Vec<f64>,
    foreign: Vec<f64>,
    refused: [usize; 2],
    took: Vec<f64>,
}

impl EvalTally {
    pub(super) fn add(&mut self, one: AskedOnce) {
        let AskedOnce { is_answerable, rank, share, is_refused, took } = one;
        self.took.push(took.as_secs_f64() * 1000.0);
        self.refused[usize::from(!is_answerable)] += usize::from(is_refused);
        if is_answerable {
            self.ranks.push(rank);
            self.answerable.push(share);
        } else {
            self.foreign.push(share);
        }
    }

    pub(super) fn report(mut self) -> EvalReport {
        let part = |count: usize, of: usize| real(count) / real(of.max(1));
        let within = |limit: usize| self.ranks.iter().filter(|rank| rank.is_some_and(|rank| rank < limit)).count();
        let mrr: f64 = self.ranks.iter().flatten().filter(|rank| **rank < RANKS).map(|rank| 1.0 / real(rank + 1)).sum();
        let questions = self.ranks.len();
        self.took.sort_by(f64::total_cmp);
        let percentile = |share: f64| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a list")]
            let at = (real(self.took.len()) * share).ceil() as usize;
            self.took.get(at.saturating_sub(1)).copied().unwrap_or_default()
        };
        EvalReport {
            questions,
            foreign: self.foreign.len(),
            recall_at_1: part(within(1), questions),
            recall_at_5: part(within(5), questions),
            mrr_at_10: mrr / real(questions.max(1)),
            refusal_auroc: (!self.foreign.is_empty()).then(|| auroc(&self.answerable, &self.foreign)),
            refused_answerable: part(self.refused[0], questions),
            refused_foreign: (!self.foreign.is_empty()).then(|| part(self.refused[1], self.foreign.len())),
            p50_ms: percentile(0.5),
            p99_ms: percentile(0.99),
            ..EvalReport::default()
        }
    }
}

/// How likely one of `high` is above one of `low`; equal ones count half.
fn auroc(high: &[f64], low: &[f64]) -> f64 {
    let mut low = low.to_vec();
    low.sort_by(f64::total_cmp);
    let wins: f64 = high
        .iter()
        .map(|value| {
            let below = low.partition_point(|other| other < value);
            let not_above = low.partition_point(|other| other <= value);
            real(below) + real(not_above - below) / 2.0
        })
        .sum();
    wins / (real(high.len()) * real(low.len())).max(1.0)
}

#[expect(clippy::cast_precision_loss, reason = "counts of questions")]
fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_those_of_the_books() {
        let mut asked = EvalTally::default();
        for (rank, share) in [(Some(0), 0.9), (Some(3), 0.5), (None, 0.2), (Some(9), 0.4)] {
            asked.add(AskedOnce { is_answerable: true, rank, share, is_refused: share < 0.3, took: Duration::from_millis(10) });
        }
        for share in [0.1, 0.4] {
            let took = Duration::from_millis(20);
            asked.add(AskedOnce { is_answerable: false, rank: None, share, is_refused: share < 0.3, took });
        }
        let report = asked.report();
        assert!((report.recall_at_1 - 0.25).abs() < 1e-9 && (report.recall_at_5 - 0.5).abs() < 1e-9);
        assert!((report.mrr_at_10 - (1.0 + 0.25 + 0.1) / 4.0).abs() < 1e-9);
        // Of eight pairs six are in order and one is equal.
        assert!((report.refusal_auroc.unwrap() - 6.5 / 8.0).abs() < 1e-9, "{report:?}");
        assert!((report.refused_answerable - 0.25).abs() < 1e-9 && (report.refused_foreign.unwrap() - 0.5).abs() < 1e-9);
        assert!((report.p50_ms - 10.0).abs() < 0.1 && (report.p99_ms - 20.0).abs() < 0.1);
    }
}
