//! From rows to words: what the pages of the rules show.

use jiff::Timestamp;
use shopbot::reads::{RuleOfIntent, RuleRead};

use super::changes;
use crate::{
    posting::beginning,
    views::{Badge, Fact, IntentRules, Moment, RuleBody, RuleDetails, RuleRow, RuleVersionRow, Tone, query_value},
};

const ANSWER_CHARS: usize = 80;

pub(super) fn rule_href(id: &str) -> String {
    format!("/console/rules/{}", query_value(id))
}

/// Groups rules, which are ordered by intent, by intent.
pub(super) fn by_intent(rows: Vec<RuleOfIntent>) -> Vec<IntentRules> {
    let mut intents: Vec<IntentRules> = Vec::new();
    for row in rows {
        let name = row.rule.intent.clone();
        let rule = rule_row(&row);
        match intents.last_mut().filter(|intent| intent.name == name) {
            Some(intent) => intent.rules.push(rule),
            None => intents.push(IntentRules { name, rules: vec![rule] }),
        }
    }
    intents
}

fn rule_row(row: &RuleOfIntent) -> RuleRow {
    let rule = &row.rule;
    RuleRow {
        id: rule.rule_id.clone(),
        href: rule_href(&rule.rule_id),
        version: state(rule),
        newest: if row.newest == rule.version { String::new() } else { format!("newest {}", row.newest) },
        state: rule.state.clone().unwrap_or_default(),
        keywords: changes::keywords(rule),
        takes: takes(rule),
        answer: beginning(&rule.response_template, false, ANSWER_CHARS),
        priority: rule.priority,
        next_state: rule.next_state.clone().unwrap_or_default(),
    }
}

fn state(rule: &RuleRead) -> Badge {
    if rule.enabled {
        Badge::new(format!("version\u{a0}{}", rule.version), Tone::Good)
    } else {
        Badge::new("switched off", Tone::Quiet)
    }
}

/// What a rule keeps of the customer's words.
fn takes(rule: &RuleRead) -> String {
    rule.capture.as_ref().map(|name| format!("takes {name}")).unwrap_or_default()
}

/// A rule from its versions, newest first; none without versions.
pub(super) fn details(versions: &[RuleRead], now: Timestamp) -> Option<RuleDetails> {
    let newest = versions.first()?;
    let enabled = versions.iter().find(|rule| rule.enabled);
    let (state, summary) = match enabled {
        Some(rule) if rule.version == newest.version => {
            (state(rule), "The newest version answers. Conversations that began before it finish on theirs.".to_owned())
        }
        Some(rule) => (state(rule), format!("It answers, although version {} is newer.", newest.version)),
        None => (state(newest), "No version of it answers; conversations under way may still finish on theirs.".to_owned()),
    };
    let before = versions.iter().skip(1).map(Some).chain([None]);
    let rows = versions.iter().zip(before).map(|(rule, before)| version(rule, before, now));
    Some(RuleDetails {
        id: newest.rule_id.clone(),
        state,
        summary,
        body: body(enabled.unwrap_or(newest), now),
        versions: rows.collect(),
    })
}

fn version(rule: &RuleRead, before: Option<&RuleRead>, now: Timestamp) -> RuleVersionRow {
    let unchanged = match before {
        Some(_) => "Saved again as it was.",
        None if rule.version == 1 => "The first version.",
        None => "Older versions are not shown.",
    };
    RuleVersionRow {
        state: if rule.enabled { Badge::new("answers", Tone::Good) } else { Badge::new("kept", Tone::Quiet) },
        body: body(rule, now),
        changes: before.map(|before| changes::between(before, rule)).unwrap_or_default(),
        unchanged: unchanged.to_owned(),
    }
}

fn body(rule: &RuleRead, now: Timestamp) -> RuleBody {
    let text = |value: Option<&String>| value.cloned().unwrap_or_default();
    let mut facts = vec![
        Fact::new("Intent", rule.intent.clone()),
        Fact::new("For the state", rule.state.clone().unwrap_or_else(|| "any".to_owned())),
        Fact::new("Priority", rule.priority.to_string()),
        Fact::new("Keeps the words as", text(rule.capture.as_ref())),
        Fact::new("If they match", text(rule.check_pattern.as_ref())),
        Fact::new("Next state", rule.next_state.clone().unwrap_or_else(|| "the same".to_owned())),
        Fact::new("Messages at most", rule.max_turns.to_string()),
    ];
    facts.retain(|fact| !fact.value.is_empty());
    RuleBody {
        version: rule.version,
        created: Moment::new(rule.created_at.to_jiff(), now),
        keywords: changes::keywords(rule),
        facts,
        answer: rule.response_template.clone(),
        re_ask: text(rule.re_ask_template.as_ref()),
        buttons: changes::buttons(rule),
    }
}
