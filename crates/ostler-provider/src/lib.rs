//! Talk to model vendors, the scripted one included; the only place that knows their JSON.

mod blocks;
pub mod catalogue;
pub mod chat;
mod config;
mod contract;
mod demo;
mod failure;
mod fuzz;
pub mod messages;
#[cfg(test)]
mod replay;
mod retry;
pub mod scenario;
mod scripted;
mod sse;
pub mod validate;
mod vendor;
mod wire;

pub use config::{KeyHeader, ProviderConfig, Timeouts, Wire, open};
pub use contract::{
    BlockKind, Effort, Failure, ModelEvent, ModelInfo, ModelRequest, ModelStream, Provider,
    StopReason, SystemBlock, Thinking, ToolSpec,
};
pub use demo::demo;
pub use failure::Refused;
pub use fuzz::{fuzz_anthropic_sse, fuzz_chat_sse, fuzz_scenario};
pub use retry::{Attempts, RetryPolicy};
pub use scripted::Scripted;
pub use vendor::list_models;

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
