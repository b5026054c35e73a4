//! Talk to model vendors, the scripted one included; the only place that knows their JSON.

mod contract;
mod demo;
mod failure;
mod retry;
pub mod scenario;
mod scripted;
pub mod validate;

pub use contract::{
    BlockKind, Effort, Failure, ModelEvent, ModelInfo, ModelRequest, ModelStream, Provider,
    StopReason, SystemBlock, Thinking, ToolSpec,
};
pub use demo::demo;
pub use failure::Refused;
pub use retry::{Attempts, RetryPolicy};
pub use scripted::Scripted;
