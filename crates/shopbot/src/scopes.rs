//! What a token may do here.

use kernel::{Bundle, Scope};

pub const READ: Scope =
    Scope::new("shopbot:read", "see bots, rules, conversations and updates that could not be handled", &[Bundle::Read]);
pub const WRITE: Scope = Scope::new("shopbot:write", "change rules", &[Bundle::Write]);

pub const ALL: &[Scope] = &[READ, WRITE];
