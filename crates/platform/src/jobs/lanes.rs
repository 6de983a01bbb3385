//! What the claimer remembers of each type: how far it has come, and until when there is nothing to do.

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

use super::store::After;

pub(super) struct JobLanes {
    lanes: HashMap<&'static str, JobLane>,
    next_sweep: Instant,
}

/// One type of job.
#[derive(Clone, Copy)]
struct JobLane {
    after: After,
    idle_until: Option<Instant>,
}

const FRESH: JobLane = JobLane { after: After::START, idle_until: None };

impl JobLanes {
    pub(super) fn new(names: &[&'static str]) -> Self {
        Self { lanes: names.iter().map(|name| (*name, FRESH)).collect(), next_sweep: Instant::now() }
    }

    /// There may be something new anywhere.
    pub(super) fn wake(&mut self) {
        for lane in self.lanes.values_mut() {
            lane.idle_until = None;
        }
    }

    pub(super) fn is_idle(&self, name: &str) -> bool {
        self.lanes[name].idle_until.is_some_and(|until| Instant::now() < until)
    }

    pub(super) fn after(&self, name: &str) -> After {
        self.lanes[name].after
    }

    pub(super) fn advance(&mut self, name: &'static str, to: After) {
        let lane = self.lanes.entry(name).or_insert(FRESH);
        lane.after = lane.after.max(to);
    }

    /// Back to the beginning; says whether that is somewhere else.
    pub(super) fn rewind(&mut self, name: &'static str) -> bool {
        let lane = self.lanes.entry(name).or_insert(FRESH);
        let was_elsewhere = lane.after != After::START;
        lane.after = After::START;
        was_elsewhere
    }

    /// What ends the sleep may be a lease that runs out or a schedule, which only a sweep finds.
    pub(super) fn sleep(&mut self, name: &'static str, wait: Duration) {
        let until = Instant::now() + wait;
        self.lanes.entry(name).or_insert(FRESH).idle_until = Some(until);
        self.next_sweep = self.next_sweep.min(until);
    }

    pub(super) fn is_sweep_due(&self) -> bool {
        Instant::now() >= self.next_sweep
    }

    /// Every type begins anew after a sweep, for jobs that were given back behind its place.
    pub(super) fn swept(&mut self, every: Duration, has_found: bool) {
        self.next_sweep = Instant::now() + every;
        for lane in self.lanes.values_mut() {
            lane.after = After::START;
            if has_found {
                lane.idle_until = None;
            }
        }
    }

    /// When to look again if nobody calls before: a type may have something, or the next sweep is due.
    pub(super) fn next_look(&self) -> Instant {
        let now = Instant::now();
        // A type that is not idle has no room; it is looked at when there is some.
        let idle = self.lanes.values().filter_map(|lane| lane.idle_until).filter(|until| *until > now);
        idle.chain([self.next_sweep]).min().unwrap_or(self.next_sweep)
    }
}
