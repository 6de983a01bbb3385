//! The rules of the shop bot, by version.

use askama::Template;

use super::{
    lists::Fact,
    shopbot::Empty,
    words::{Badge, Moment, Pager, Shell},
};

/// The list of rules.
#[derive(Debug, Template)]
#[template(path = "rules.html")]
pub struct RulesPage {
    /// The frame.
    pub shell: Shell,
    /// The rules of this page.
    pub rules: Rules,
    /// The way on.
    pub pager: Pager,
}

/// The region `rules` alone.
#[derive(Debug, Template)]
#[template(path = "fragments/rules.html")]
pub struct RulesFragment {
    /// The rules of this page.
    pub rules: Rules,
    /// The way on.
    pub pager: Pager,
}

/// Rules by intent.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The intents, by name.
    pub intents: Vec<Intent>,
    /// What to say when there are none.
    pub empty: Empty,
}

/// The rules of one intent.
#[derive(Debug, Clone)]
pub struct Intent {
    /// Its name.
    pub name: String,
    /// Its rules, by id.
    pub rules: Vec<RuleRow>,
}

/// One rule in the list: the version that answers, or the newest when none does.
#[derive(Debug, Clone)]
pub struct RuleRow {
    /// Its id.
    pub id: String,
    /// Its page.
    pub href: String,
    /// Which version answers, or that none does.
    pub version: Badge,
    /// The newest version, where another one answers: `newest 3`; empty otherwise.
    pub newest: String,
    /// The state that it is for; empty for any time.
    pub state: String,
    /// Its keywords, as they were written.
    pub keywords: Vec<String>,
    /// What it keeps of the customer's words: `takes order_number`; empty for nothing.
    pub takes: String,
    /// How its answer begins.
    pub answer: String,
    /// Its priority.
    pub priority: i32,
    /// Where the conversation goes; empty for nowhere.
    pub next_state: String,
}

/// One rule.
#[derive(Debug, Template)]
#[template(path = "rule.html")]
pub struct RulePage {
    /// The frame.
    pub shell: Shell,
    /// The rule.
    pub rule: RuleDetails,
}

/// The region of one rule alone.
#[derive(Debug, Template)]
#[template(path = "fragments/rule.html")]
pub struct RuleFragment {
    /// The rule.
    pub rule: RuleDetails,
}

/// A rule with its versions.
#[derive(Debug, Clone)]
pub struct RuleDetails {
    /// Its id.
    pub id: String,
    /// Which version answers, or that none does.
    pub state: Badge,
    /// That in a sentence.
    pub summary: String,
    /// The version that answers, or the newest.
    pub body: RuleBody,
    /// All versions, newest first.
    pub versions: Vec<RuleVersion>,
}

/// What one version of a rule says.
#[derive(Debug, Clone)]
pub struct RuleBody {
    /// Its number.
    pub version: i32,
    /// When it was saved.
    pub created: Moment,
    /// Its keywords, as they were written.
    pub keywords: Vec<String>,
    /// Whatever else decides when it speaks, and what follows.
    pub facts: Vec<Fact>,
    /// Its answer.
    pub answer: String,
    /// What it says when the customer's words do not pass its check; empty for nothing.
    pub re_ask: String,
    /// The quick replies under its answer.
    pub buttons: Vec<ButtonRow>,
}

/// Quick replies that stand side by side.
#[derive(Debug, Clone)]
pub struct ButtonRow {
    /// The quick replies.
    pub buttons: Vec<Button>,
}

/// One quick reply.
#[derive(Debug, Clone)]
pub struct Button {
    /// What it says.
    pub text: String,
    /// What comes back when it is pressed, where that is something else; empty otherwise.
    pub payload: String,
}

/// One version of a rule.
#[derive(Debug, Clone)]
pub struct RuleVersion {
    /// Whether it answers.
    pub state: Badge,
    /// What it says.
    pub body: RuleBody,
    /// What is different from the version before; nothing for the first.
    pub changes: Vec<RuleChange>,
    /// What to say when nothing is.
    pub unchanged: String,
}

/// What one version changed.
#[derive(Debug, Clone)]
pub struct RuleChange {
    /// What: `Keywords`.
    pub field: String,
    /// What went; empty for nothing.
    pub before: String,
    /// What came; empty for nothing.
    pub after: String,
}
