//! How the updates of a bot come: a pure decision from what is configured, what was, and what Telegram says (WF11).
//!
//! - `webhook`: the webhook is what is configured, or is set again. Without an address it is only watched.
//! - `polling`: there is no webhook.
//! - `auto`: the webhook; after [`FAILURES_MAX`] checks in a row in which it did not work, polling; back after [`BACK_AFTER_SECONDS`].
//!
//! A webhook is removed before polling begins, and polling ends before a webhook is set, so that updates never come both ways. Neither drops
//! an update that waits.

/// Checks in a row after which `auto` polls.
pub const FAILURES_MAX: i32 = 3;
/// How long `auto` polls before it tries the webhook again.
pub const BACK_AFTER_SECONDS: i64 = 600;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportMode {
    Webhook,
    Polling,
}

impl TransportMode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Polling => "polling",
        }
    }
}

/// What is configured.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// `webhook`, `polling` or `auto`.
    pub mode: &'a str,
    pub url: Option<&'a str>,
    pub pending_max: i64,
}

/// What the last check left.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    pub mode: TransportMode,
    pub seconds_in_mode: i64,
    pub pending: i64,
    pub failures: i32,
    /// How long ago the last check was.
    pub seconds_since_check: Option<i64>,
}

/// What Telegram says now.
#[derive(Clone, Debug)]
pub struct Seen<'a> {
    pub url: &'a str,
    pub pending: i64,
    pub seconds_since_error: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportAction {
    SetWebhook,
    DeleteWebhook,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub mode: TransportMode,
    pub verdict: &'static str,
    pub failures: i32,
    pub action: Option<TransportAction>,
    pub event: Option<&'static str>,
}

pub fn decide(wanted: &Wanted<'_>, before: &Before, seen: &Seen<'_>) -> Plan {
    let polls = wanted.mode == "polling" || (wanted.mode == "auto" && wanted.url.is_none());
    if polls {
        return poll(before, seen, "polling", 0);
    }
    if before.mode == TransportMode::Polling && wanted.mode == "auto" {
        if before.seconds_in_mode < BACK_AFTER_SECONDS {
            return poll(before, seen, "polling", before.failures);
        }
        // One failure more sends it back to polling at once.
        return webhook("returning", FAILURES_MAX - 1, Some("switched_to_webhook"));
    }
    let verdict = judge(wanted, before, seen);
    if verdict == "ok" {
        return Plan { mode: TransportMode::Webhook, verdict, failures: 0, action: None, event: None };
    }
    let failures = before.failures.saturating_add(1);
    if wanted.mode == "auto" && failures >= FAILURES_MAX {
        let action = Some(TransportAction::DeleteWebhook);
        return Plan { mode: TransportMode::Polling, verdict, failures, action, event: Some("switched_to_polling") };
    }
    if wanted.url.is_none() {
        return Plan { mode: TransportMode::Webhook, verdict, failures, action: None, event: None };
    }
    webhook(verdict, failures, Some("webhook_repaired"))
}

fn webhook(verdict: &'static str, failures: i32, event: Option<&'static str>) -> Plan {
    Plan { mode: TransportMode::Webhook, verdict, failures, action: Some(TransportAction::SetWebhook), event }
}

/// A webhook that somebody set meanwhile goes: it would take the updates.
fn poll(before: &Before, seen: &Seen<'_>, verdict: &'static str, failures: i32) -> Plan {
    let event = match (before.mode, seen.url.is_empty()) {
        (TransportMode::Webhook, _) => Some("switched_to_polling"),
        (TransportMode::Polling, false) => Some("webhook_removed"),
        (TransportMode::Polling, true) => None,
    };
    let action = (!seen.url.is_empty()).then_some(TransportAction::DeleteWebhook);
    Plan { mode: TransportMode::Polling, verdict, failures, action, event }
}

fn judge(wanted: &Wanted<'_>, before: &Before, seen: &Seen<'_>) -> &'static str {
    if seen.url.is_empty() {
        return "no_webhook";
    }
    if wanted.url.is_some_and(|url| url != seen.url) {
        return "wrong_url";
    }
    // An error from before the last check was judged then.
    let window = before.seconds_since_check.unwrap_or(300).max(60);
    if seen.seconds_since_error.is_some_and(|ago| ago <= window) {
        return "failing";
    }
    if seen.pending > wanted.pending_max && seen.pending >= before.pending {
        return "pending";
    }
    "ok"
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://bots.example/hooks/telegram";

    fn wanted(mode: &str) -> Wanted<'_> {
        Wanted { mode, url: Some(URL), pending_max: 100 }
    }

    fn before(mode: TransportMode, failures: i32) -> Before {
        Before { mode, seconds_in_mode: 60, pending: 0, failures, seconds_since_check: Some(60) }
    }

    fn well() -> Seen<'static> {
        Seen { url: URL, pending: 0, seconds_since_error: None }
    }

    #[test]
    fn a_webhook_that_works_is_left_alone() {
        for mode in ["webhook", "auto"] {
            let plan = decide(&wanted(mode), &before(TransportMode::Webhook, 2), &well());
            assert_eq!((plan.verdict, plan.action, plan.failures), ("ok", None, 0));
        }
    }

    #[test]
    fn a_missing_wrong_failing_or_clogged_webhook_is_set_again() {
        let cases = [
            ("no_webhook", Seen { url: "", ..well() }),
            ("wrong_url", Seen { url: "https://elsewhere.example/", ..well() }),
            ("failing", Seen { seconds_since_error: Some(30), ..well() }),
            ("pending", Seen { pending: 101, ..well() }),
        ];
        for (verdict, seen) in cases {
            let plan = decide(&wanted("webhook"), &before(TransportMode::Webhook, 9), &seen);
            assert_eq!((plan.verdict, plan.action), (verdict, Some(TransportAction::SetWebhook)));
            assert_eq!((plan.mode, plan.failures), (TransportMode::Webhook, 10));
        }
    }

    #[test]
    fn an_error_of_long_ago_and_a_queue_that_shrinks_are_no_failures() {
        let old = Seen { seconds_since_error: Some(3600), ..well() };
        assert_eq!(decide(&wanted("webhook"), &before(TransportMode::Webhook, 0), &old).verdict, "ok");
        let fuller = Before { pending: 500, ..before(TransportMode::Webhook, 0) };
        let shrinks = Seen { pending: 300, ..well() };
        assert_eq!(decide(&wanted("webhook"), &fuller, &shrinks).verdict, "ok");
    }

    #[test]
    fn auto_polls_after_three_failures_and_comes_back_later() {
        let failing = Seen { seconds_since_error: Some(5), ..well() };
        let plan = decide(&wanted("auto"), &before(TransportMode::Webhook, 2), &failing);
        assert_eq!((plan.mode, plan.action), (TransportMode::Polling, Some(TransportAction::DeleteWebhook)));
        assert_eq!(plan.event, Some("switched_to_polling"));
        let none = Seen { url: "", ..well() };
        let stays = decide(&wanted("auto"), &before(TransportMode::Polling, 3), &none);
        assert_eq!((stays.mode, stays.action, stays.event), (TransportMode::Polling, None, None));
        let later = Before { seconds_in_mode: BACK_AFTER_SECONDS, ..before(TransportMode::Polling, 3) };
        let back = decide(&wanted("auto"), &later, &none);
        assert_eq!((back.mode, back.action), (TransportMode::Webhook, Some(TransportAction::SetWebhook)));
        let again = decide(&wanted("auto"), &before(TransportMode::Webhook, back.failures), &failing);
        assert_eq!(again.mode, TransportMode::Polling);
    }

    #[test]
    fn polling_removes_a_webhook_and_auto_without_an_address_polls() {
        let plan = decide(&wanted("polling"), &before(TransportMode::Webhook, 0), &well());
        assert_eq!((plan.mode, plan.action), (TransportMode::Polling, Some(TransportAction::DeleteWebhook)));
        let nowhere = Wanted { url: None, ..wanted("auto") };
        let plan = decide(&nowhere, &before(TransportMode::Webhook, 0), &Seen { url: "", ..well() });
        assert_eq!((plan.mode, plan.action, plan.event), (TransportMode::Polling, None, Some("switched_to_polling")));
    }

    #[test]
    fn a_webhook_without_an_address_is_watched_and_not_touched() {
        let watched = Wanted { url: None, ..wanted("webhook") };
        let plan = decide(&watched, &before(TransportMode::Webhook, 0), &Seen { url: "", ..well() });
        assert_eq!((plan.verdict, plan.action, plan.failures), ("no_webhook", None, 1));
    }
}
