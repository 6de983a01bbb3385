//! What a token may do with the platform itself, and with the console, which no module owns.

use kernel::{Bundle, Scope};

pub const READ: Scope = Scope::new("platform:read", "see jobs, the journal and alerts", &[Bundle::Read]);
pub const WRITE: Scope = Scope::new("platform:write", "retry jobs and acknowledge alerts", &[Bundle::Write]);
pub const CONSOLE: Scope =
    Scope::new("console:view", "sign in to the console, which shows everything of the workspace", &[Bundle::Console]);

pub const ALL: &[Scope] = &[READ, WRITE, CONSOLE];
