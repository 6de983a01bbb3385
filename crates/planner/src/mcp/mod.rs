//! The planner as an MCP server: tools and resources over streamable HTTP at `/mcp` and over standard input and output.
//!
//! This layer translates. It says who calls, which tool that is, how far an apply has come and whether its caller is still there; what
//! is allowed and what happens is decided by the engine. Refusals by the rules are results of tools with `isError`, which models
//! read; only what is no call at all is an error of the protocol.

mod handler;
mod http;
mod resources;
mod result;
mod schemas;
mod sessions;
mod stdio;
mod tools;
mod watch;

/// Fifty actions with every text as long as it may be fit, also with every letter written as two escapes.
const MESSAGE_BYTES_MAX: usize = 3 << 20;

pub use handler::McpHandler;
pub use http::{McpSettings, router, router_with};
pub use stdio::{StdioError, serve_on, serve_stdio};
