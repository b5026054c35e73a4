//! The contract between a tool and the agent, and the registry of tools.
//!
//! A tool states the effects of its arguments before it runs, so that permission is
//! judged on effects; it knows nothing of sessions' logs, of hooks or of who asks.

mod context;
mod later;
mod outputs;
mod registry;
mod state;
mod tool;

pub use context::{FileReads, Progress, SessionState, ShellFolder, ToolCx};
pub use later::{Later, Note};
pub use outputs::{OutputPage, OutputQuery, OutputStore, OutputWriter, Outputs};
pub use registry::{DuplicateTool, Registry};
pub use state::{Change, PlanList, TodoList};
pub use tool::{AnyTool, Concurrency, Tool, ToolError, ToolOutput, erase};
