//! Talk to model vendors, the scripted one included; the only place that knows their JSON.

mod contract;

pub use contract::{
    BlockKind, Effort, Failure, ModelEvent, ModelInfo, ModelRequest, ModelStream, Provider, StopReason, SystemBlock,
    Thinking, ToolSpec,
};
