//! The sessions of the legacy protocol: each belongs to the person who opened it, and there are only so many.
//!
//! Whoever opens one too many loses the one of their own that was not used for longest, because clients go away without saying so; a client
//! whose session is gone is told so by 404 and opens another. Sessions that nobody uses end by themselves.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use kernel::WorkspaceId;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager, local::LocalSessionManager};

use crate::engine::Caller;

/// Whose session it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    workspace: WorkspaceId,
    person: i64,
}

impl From<&Caller> for Owner {
    fn from(caller: &Caller) -> Self {
        Self { workspace: caller.workspace, person: caller.person }
    }
}

pub(super) struct Sessions {
    pub(super) manager: Arc<LocalSessionManager>,
    in_all_max: usize,
    per_person_max: usize,
    /// And when each was used last.
    owners: Mutex<HashMap<SessionId, (Owner, Instant)>>,
}

impl Sessions {
    pub(super) fn new(in_all_max: usize, per_person_max: usize, idle: Duration) -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(idle);
        Self { manager: Arc::new(manager), in_all_max, per_person_max: per_person_max.max(1), owners: Mutex::default() }
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<SessionId, (Owner, Instant)>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this session is theirs; then it is used now.
    pub(super) fn belongs_to(&self, id: &str, owner: Owner) -> bool {
        let mut owners = self.owners();
        let Some((_, used_at)) = owners.get_mut(id).filter(|(known, _)| *known == owner) else { return false };
        *used_at = Instant::now();
        true
    }

    /// Notes whose a session is that was opened just now; says no, and closes it, when there are too many in all.
    pub(super) async fn admit(&self, id: SessionId, owner: Owner) -> bool {
        let (is_admitted, surplus) = {
            // Held while it is noted, so that nobody's session is taken for one that has ended.
            let open = self.manager.sessions.read().await;
            self.note(|id| open.contains_key(id), &id, owner)
        };
        if let Some(surplus) = surplus {
            let _ = self.manager.close_session(&surplus).await;
        }
        is_admitted
    }

    /// Whether there is room, and which session has to go.
    fn note(&self, is_open: impl Fn(&SessionId) -> bool, id: &SessionId, owner: Owner) -> (bool, Option<SessionId>) {
        let mut owners = self.owners();
        // Those that ended by themselves.
        owners.retain(|id, _| is_open(id));
        let theirs = owners.iter().filter(|(_, (known, _))| *known == owner);
        let is_full = owners.len() >= self.in_all_max;
        let has_too_many = is_full || theirs.clone().count() >= self.per_person_max;
        let oldest = theirs.min_by_key(|(_, (_, used_at))| *used_at).map(|(id, _)| Arc::clone(id)).filter(|_| has_too_many);
        match &oldest {
            // Also when there is no room for anybody: who comes back takes the place that they had.
            Some(oldest) => _ = owners.remove(oldest),
            None if is_full => return (false, Some(Arc::clone(id))),
            None => {}
        }
        owners.insert(Arc::clone(id), (owner, Instant::now()));
        (true, oldest)
    }

    /// Ends all of them.
    pub(super) async fn close(&self) {
        let open: Vec<SessionId> = self.manager.sessions.read().await.keys().cloned().collect();
        for id in open {
            let _ = self.manager.close_session(&id).await;
        }
        self.owners().clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn owner(person: i64) -> Owner {
        Owner { workspace: WorkspaceId::SYSTEM, person }
    }

    /// Opens sessions as the manager would, one after another; says for each whether it was admitted and which one went.
    fn open(sessions: &Sessions, open: &mut HashSet<SessionId>, name: &str, person: i64) -> (bool, Option<String>) {
        let id: SessionId = name.into();
        open.insert(Arc::clone(&id));
        let (is_admitted, surplus) = sessions.note(|id| open.contains(id), &id, owner(person));
        if let Some(surplus) = &surplus {
            open.remove(surplus);
        }
        (is_admitted, surplus.map(|id| id.to_string()))
    }

    #[test]
    fn a_session_belongs_to_whoever_opened_it() {
        let sessions = Sessions::new(10, 10, Duration::from_mins(1));
        let mut all = HashSet::new();
        assert_eq!(open(&sessions, &mut all, "a", 1), (true, None));
        assert!(sessions.belongs_to("a", owner(1)));
        assert!(!sessions.belongs_to("a", owner(2)) && !sessions.belongs_to("b", owner(1)));
        let elsewhere = Owner { workspace: WorkspaceId::new(), person: 1 };
        assert!(!sessions.belongs_to("a", elsewhere), "the same number in another workspace is another person");
    }

    #[test]
    fn whoever_opens_too_many_loses_the_one_of_their_own_that_was_not_used_for_longest() {
        let sessions = Sessions::new(10, 2, Duration::from_mins(1));
        let mut all = HashSet::new();
        open(&sessions, &mut all, "theirs", 2);
        open(&sessions, &mut all, "a", 1);
        open(&sessions, &mut all, "b", 1);
        assert!(sessions.belongs_to("a", owner(1)), "and used just now");
        assert_eq!(open(&sessions, &mut all, "c", 1), (true, Some("b".into())));
        assert!(!sessions.belongs_to("b", owner(1)) && sessions.belongs_to("theirs", owner(2)));
    }

    #[test]
    fn beyond_the_limit_in_all_the_new_one_goes_until_another_has_ended() {
        let sessions = Sessions::new(2, 2, Duration::from_mins(1));
        let mut all = HashSet::new();
        open(&sessions, &mut all, "a", 1);
        open(&sessions, &mut all, "b", 2);
        assert_eq!(open(&sessions, &mut all, "c", 3), (false, Some("c".into())));
        assert_eq!(open(&sessions, &mut all, "back", 2), (true, Some("b".into())), "who comes back takes their own place");
        all.remove("a");
        assert_eq!(open(&sessions, &mut all, "d", 3), (true, None));
    }
}
