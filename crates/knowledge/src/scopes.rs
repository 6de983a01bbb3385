//! What a token may do here.

use kernel::{Bundle, Scope};

pub const RUN: Scope = Scope::new("knowledge:run", "call the workflows of knowledge", &[Bundle::Workflows]);
pub const READ: Scope =
    Scope::new("knowledge:read", "see documents, chats, questions and what could not be read", &[Bundle::Read]);
pub const WRITE: Scope = Scope::new("knowledge:write", "register chats, change policies and forget", &[Bundle::Write]);
pub const SEARCH: Scope = Scope::new("knowledge:search", "search and ask as any person of the workspace", &[Bundle::Workflows]);
pub const ASK: Scope =
    Scope::new("knowledge:ask", "search and ask over MCP as the Telegram user of the token's person", &[Bundle::Read]);

pub const ALL: &[Scope] = &[RUN, READ, WRITE, SEARCH, ASK];
