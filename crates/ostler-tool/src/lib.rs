//! The contract between a tool and the agent, and the registry of tools.
//!
//! A tool states the effects of its arguments before it runs, so that permission is
//! judged on effects; it knows nothing of sessions' logs, of hooks or of who asks.

mod context;
mod registry;
mod tool;

pub use context::{FileReads, Progress, SessionState, ShellFolder, ToolCx};
pub use registry::{DuplicateTool, Registry};
pub use tool::{AnyTool, Concurrency, Tool, ToolError, ToolOutput, erase};
