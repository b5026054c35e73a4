//! Every type that crosses Ostler's own wire, and the one method table.
//!
//! Pure data: no I/O, no async runtime, no policy. Each type has one serde definition,
//! from which JSON Schema (schemars) and TypeScript (ts-rs) derive; a test holds the two equal.

pub mod access;
pub mod codegen;
pub mod conversation;
pub mod diff;
pub mod error;
pub mod event;
pub mod ids;
pub mod methods;
pub mod mode;
pub mod params;
pub mod session;
pub mod task;
mod tool_name;
pub mod trust;

pub use access::Access;
pub use conversation::{Block, MediaSource, Message, Role, ToolResultContent, Usage};
pub use diff::{DiffHunk, DiffLine, DiffOp, FileDiff, FileStatus};
pub use error::{ErrorKind, RpcError};
pub use event::{Event, EventKind};
pub use ids::{MessageId, RequestId, RunId, SessionId, ToolCallId};
pub use mode::Mode;
pub use task::{BackgroundTask, PlannedTask, TaskKind, TaskState, Todo, TodoStatus};
pub use tool_name::canonical_tool;

/// The version of this protocol, as `rpc.discover` and `host.info` answer it.
pub const PROTOCOL_VERSION: &str = "0.1";
