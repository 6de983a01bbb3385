//! What a token may do here.

use kernel::{Bundle, Scope};

pub const READ: Scope =
    Scope::new("posting:read", "see posts, deliveries, channels, sources and what became of them", &[Bundle::Read]);
pub const WRITE: Scope = Scope::new("posting:write", "edit and delete posts", &[Bundle::Write]);

pub const ALL: &[Scope] = &[READ, WRITE];
