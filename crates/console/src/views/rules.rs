//! The rules of the shop bot, by version.

use askama::Template;

use super::parts::{Badge, EmptyNote, Fact, Moment, Pager, html_safe};

html_safe!(FieldChange, RuleBody);

#[derive(Debug, Template)]
#[template(path = "rules.html")]
pub struct RulesRegion {
    /// By name.
    pub intents: Vec<IntentRules>,
    pub empty: EmptyNote,
    pub pager: Pager,
}

#[derive(Debug, Clone)]
pub struct IntentRules {
    pub name: String,
    /// By id.
    pub rules: Vec<RuleRow>,
}

/// One rule in the list: the version that answers, or the newest when none does.
#[derive(Debug, Clone)]
pub struct RuleRow {
    pub id: String,
    pub href: String,
    /// Which version answers, or that none does.
    pub version: Badge,
    /// The newest version, where another one answers: `newest 3`; empty otherwise.
    pub newest: String,
    /// The state that it is for; empty for any time.
    pub state: String,
    /// As they were written.
    pub keywords: Vec<String>,
    /// What it keeps of the customer's words: `takes order_number`; empty for nothing.
    pub takes: String,
    /// How its answer begins.
    pub answer: String,
    pub priority: i32,
    /// Where the conversation goes; empty for nowhere.
    pub next_state: String,
}

#[derive(Debug, Template)]
#[template(path = "rule.html")]
pub struct RuleDetails {
    pub id: String,
    /// Which version answers, or that none does.
    pub state: Badge,
    /// That in a sentence.
    pub summary: String,
    /// The version that answers, or the newest.
    pub body: RuleBody,
    /// Newest first.
    pub versions: Vec<RuleVersionRow>,
}

/// What one version of a rule says.
#[derive(Debug, Clone, Template)]
#[template(path = "parts/rule_body.html")]
pub struct RuleBody {
    pub version: i32,
    pub created: Moment,
    /// As they were written.
    pub keywords: Vec<String>,
    /// What else decides when it speaks, and what follows.
    pub facts: Vec<Fact>,
    pub answer: String,
    /// What it says when the customer's words do not pass its check; empty for nothing.
    pub re_ask: String,
    /// The quick replies under its answer, row by row.
    pub buttons: Vec<Vec<RuleButton>>,
}

#[derive(Debug, Clone)]
pub struct RuleButton {
    pub text: String,
    /// What comes back when it is pressed, where that is something else; empty otherwise.
    pub payload: String,
}

#[derive(Debug, Clone)]
pub struct RuleVersionRow {
    /// Whether it answers.
    pub state: Badge,
    pub body: RuleBody,
    /// What is different from the version before; nothing for the first.
    pub changes: Vec<FieldChange>,
    /// What to say when nothing is.
    pub unchanged: String,
}

/// One field before and after; empty for nothing.
#[derive(Debug, Clone, Template)]
#[template(path = "parts/field_change.html")]
pub struct FieldChange {
    pub field: String,
    pub before: String,
    pub after: String,
}
