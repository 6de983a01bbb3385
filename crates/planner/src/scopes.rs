//! What a token may do here.

use kernel::{Bundle, Scope};

pub const READ: Scope = Scope::new("planner:read", "read the goals, steps and habits of the token's person", &[Bundle::Read]);
pub const WRITE: Scope =
    Scope::new("planner:write", "preview, apply and undo changes of them, and set the time zone", &[Bundle::Write]);

pub const ALL: &[Scope] = &[READ, WRITE];
