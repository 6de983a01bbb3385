//! What a token may do here.

use kernel::{Bundle, Scope};

/// Whoever may see the workspace in the console may watch its chats.
pub const WATCH: Scope =
    Scope::new("chat:watch", "see chats, their messages and actions, live", &[Bundle::Read, Bundle::Console]);
pub const WRITE: Scope = Scope::new("chat:write", "write messages, start and update actions", &[Bundle::Write]);

pub const ALL: &[Scope] = &[WATCH, WRITE];
