//! The planner: an assistant changes a person's goals, steps and habits through MCP, all or nothing.

pub mod model;

mod calls;
mod error;
mod log;
mod module;
mod sql;
mod store;
mod turns;

pub mod engine;
pub mod glance;
pub mod mcp;
pub mod retention;
pub mod scopes;

pub use engine::{Applied, Caller, EngineSettings, Planner, ReadTool, ToolAnswer, Watch};
pub use module::{MENU, MODULE, PlannerSettings, service};
pub use sql::SQL;
