//! Conversations with expected answers, replayed against the real rules of a workspace.
//!
//! ```yaml
//! - name: a return, step by step
//!   provider: max
//!   steps:
//!     - customer: оформить возврат
//!       bot: номер заказа            # the answer contains this
//!       state: return_ru_order       # the conversation stands there afterwards
//!     - customer: не помню
//!       outcome: re_asked
//!     - wait: 16m
//!     - press: Отмена
//!       rule: none
//! ```

use jiff::SignedDuration;
use kernel::WorkspaceId;
use platform::{Db, DbError};
use serde::{Deserialize, Serialize};

use crate::talk::{Act, Said, Talk};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub name: String,
    #[serde(default = "max")]
    pub provider: String,
    pub steps: Vec<Step>,
}

/// One thing that the customer does, and what is expected of the bot.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// The customer writes this.
    pub customer: Option<String>,
    /// The customer presses the button with this payload.
    pub press: Option<String>,
    /// `true`: the customer opens the chat.
    pub start: bool,
    /// `true`: the customer sends a picture or a sticker.
    pub sticker: bool,
    /// So much time passes: `90s`, `16m`, `2h`.
    pub wait: Option<String>,
    /// What the answer contains.
    pub bot: Option<String>,
    /// The rule that answers; `none` when no rule does.
    pub rule: Option<String>,
    pub state: Option<String>,
    pub outcome: Option<String>,
}

/// A step that went another way than expected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Miss {
    pub scenario: String,
    /// 1 for the first.
    pub step: usize,
    pub words: String,
}

fn max() -> String {
    "max".to_owned()
}

/// Reads a file of scenarios; the error says where it is not one.
pub fn read(yaml: &str) -> Result<Vec<Scenario>, String> {
    let scenarios: Vec<Scenario> = serde_saphyr::from_str(yaml).map_err(|error| error.to_string())?;
    for scenario in &scenarios {
        for (index, step) in scenario.steps.iter().enumerate() {
            let place = || format!("{}, step {}", scenario.name, index + 1);
            let acts = [step.customer.is_some(), step.press.is_some(), step.start, step.sticker, step.wait.is_some()];
            if acts.iter().filter(|is_given| **is_given).count() != 1 {
                return Err(format!("{}: one of customer, press, start, sticker or wait", place()));
            }
            if let Some(wait) = &step.wait {
                duration(wait).map_err(|words| format!("{}: {words}", place()))?;
            }
        }
    }
    Ok(scenarios)
}

/// Plays the scenarios, each in a conversation of its own.
pub async fn play(db: &Db, workspace: WorkspaceId, scenarios: &[Scenario]) -> Result<Vec<Miss>, DbError> {
    let mut misses = Vec::new();
    for scenario in scenarios {
        let mut talk = Talk::new(db, workspace, &scenario.provider);
        for (index, step) in scenario.steps.iter().enumerate() {
            let Some(act) = act(step) else {
                talk.wait(step.wait.as_deref().and_then(|wait| duration(wait).ok()).unwrap_or_default());
                continue;
            };
            let words = judge(step, &talk.act(&act).await?);
            misses.extend(words.into_iter().map(|words| Miss { scenario: scenario.name.clone(), step: index + 1, words }));
        }
    }
    Ok(misses)
}

fn act(step: &Step) -> Option<Act> {
    match (&step.customer, &step.press) {
        (Some(text), _) => Some(Act::Says(text.clone())),
        (None, Some(payload)) => Some(Act::Presses(payload.clone())),
        (None, None) if step.start => Some(Act::Starts),
        (None, None) if step.sticker => Some(Act::Sends),
        (None, None) => None,
    }
}

fn judge(step: &Step, said: &Said) -> Vec<String> {
    let mut words = Vec::new();
    let response = said.response.as_deref().unwrap_or_default();
    if let Some(expected) = &step.bot
        && !response.contains(expected.as_str())
    {
        words.push(format!("the answer should contain `{expected}` and is `{response}`"));
    }
    let pairs = [
        ("rule", &step.rule, said.rule_id.as_deref().unwrap_or("none")),
        ("state", &step.state, said.state_after.as_str()),
        ("outcome", &step.outcome, said.outcome.as_str()),
    ];
    for (what, expected, found) in pairs {
        if let Some(expected) = expected
            && expected != found
        {
            words.push(format!("the {what} should be `{expected}` and is `{found}`"));
        }
    }
    words
}

/// Reads a time such as `90s`, `16m` or `2h`.
pub fn duration(text: &str) -> Result<SignedDuration, String> {
    let wrong = || format!("`{text}` is no time; write it as 90s, 16m or 2h");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let number: i64 = text[..text.len() - unit.len_utf8()].trim().parse().map_err(|_| wrong())?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        _ => return Err(wrong()),
    };
    if !(0..=100_000).contains(&number) {
        return Err(wrong());
    }
    Ok(SignedDuration::from_secs(number * seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_and_its_mistakes_are_told_with_their_place() {
        let scenarios =
            read("- name: one\n  steps:\n    - customer: доставка\n      rule: delivery_ru\n    - wait: 16m\n").unwrap();
        assert_eq!((scenarios.len(), scenarios[0].provider.as_str(), scenarios[0].steps.len()), (1, "max", 2));
        for (yaml, words) in [
            ("- name: one\n  steps:\n    - customer: a\n      press: b\n", "one, step 1: one of customer"),
            ("- name: one\n  steps:\n    - bot: b\n", "one, step 1: one of customer"),
            ("- name: one\n  steps:\n    - wait: soon\n", "`soon` is no time"),
            ("- name: one\n  steps:\n    - custommer: a\n", "custommer"),
            ("- steps: []\n", "name"),
        ] {
            let error = read(yaml).unwrap_err();
            assert!(error.contains(words), "{error} should say {words}");
        }
    }

    #[test]
    fn times_are_read() {
        assert_eq!(duration("90s"), Ok(SignedDuration::from_secs(90)));
        assert_eq!(duration("16m"), Ok(SignedDuration::from_mins(16)));
        assert_eq!(duration("2h"), Ok(SignedDuration::from_hours(2)));
        for bad in ["", "s", "1d", "-1s", "ж", "999999999h"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
