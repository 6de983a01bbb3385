//! The program as people and scripts meet it: a real process, a real PostgreSQL, real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod support;

mod actions;
mod alerts;
mod client;
mod commands;
mod console;
mod console_actions;
mod console_planner;
mod console_shopbot;
mod console_webhooks;
mod crash;
mod crash_planner;
mod crash_webhooks;
mod embedded;
mod http;
mod knowledge;
mod mcp;
mod ops;
mod restart;
mod schema;
mod scopes;
mod telemetry;
mod webhooks;
