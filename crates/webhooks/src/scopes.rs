//! What a token may do here.

use kernel::{Bundle, Scope};

pub const READ: Scope = Scope::new("webhooks:read", "see webhooks and their deliveries", &[Bundle::Read]);
pub const WRITE: Scope =
    Scope::new("webhooks:write", "add, change, test and remove webhooks, and send deliveries again", &[Bundle::Write]);

pub const ALL: &[Scope] = &[READ, WRITE];
