//! The state machine of a delivery, as the specification lists it: for the test that walks it, and for the checker of `cargo xtask chaos posting`.

/// `* -> dead` is every status in which an attempt could still be made. The last two are the runbook's manual requeue.
pub(crate) const ALLOWED: [(&str, &str); 18] = [
    ("queued", "claimed"),
    ("retry", "claimed"),
    ("claimed", "sending"),
    ("sending", "sent"),
    ("claimed", "queued"),
    ("claimed", "retry"),
    ("sending", "retry"),
    ("queued", "failed_permanent"),
    ("retry", "failed_permanent"),
    ("sending", "failed_permanent"),
    ("queued", "deduped"),
    ("retry", "deduped"),
    ("queued", "dead"),
    ("claimed", "dead"),
    ("sending", "dead"),
    ("retry", "dead"),
    ("dead", "retry"),
    ("failed_permanent", "retry"),
];
