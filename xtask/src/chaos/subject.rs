//! What is put to the test: all that the harness has to know of a module before the checker speaks. Processes, troubles and
//! the stage are the same for each.

use std::path::Path;

use super::crew::Part;

/// A place where a process may end itself, with its odds where that place is the likely one.
pub(super) type Failpoint = (&'static str, f64);

pub(super) struct Subject {
    /// As in `cargo xtask chaos …`.
    pub(super) name: &'static str,
    /// Processes that take requests beside the one that keeps PostgreSQL.
    pub(super) apis: u32,
    /// What the processes beside the APIs do.
    pub(super) worker_roles: &'static str,
    /// The simulated services that fail.
    pub(super) providers: &'static [&'static str],
    /// Settings of all processes, given the simulator's address and the directory of the run.
    pub(super) settings: fn(&str, &Path) -> Vec<(&'static str, String)>,
    /// The SQL that makes the workspace.
    pub(super) setup: fn() -> String,
    /// Where the processes of a part may end themselves.
    pub(super) failpoints: fn(Part) -> &'static [Failpoint],
    /// Each kind of failure of the simulator and its share of the calls.
    pub(super) failures: &'static [(f64, &'static str)],
    /// Errors of PostgreSQL that say how a race ended as it may.
    pub(super) refusals: &'static [&'static str],
    /// How many things are under way.
    pub(super) under_way: &'static str,
    /// Cuts short waits that are right for people and long for us.
    pub(super) hurry: &'static str,
    /// Who is under way (whose story to tell), and what for.
    pub(super) stuck: &'static str,
    /// What has been in sending for longer than $1 seconds: id and attempt.
    pub(super) held: &'static str,
    /// Of these ids ($1) and attempts ($2): whether somebody else has begun with one of them.
    pub(super) taken_over: &'static str,
}
