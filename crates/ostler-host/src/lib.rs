//! Wires everything once and implements every method of the protocol.
//!
//! Reads configuration and environment, keeps the sessions of this process, gathers the
//! facts that the judge needs, and projects what sessions emit. Doors translate between
//! this and a wire; they decide nothing.

mod doctor;
mod env;
mod explain;
mod facts;
mod gate;
mod git;
mod hands;
mod hooks;
mod host;
mod hub;
mod keeping;
mod live;
mod local_date;
mod methods;
mod models;
mod nested;
pub mod outlet;
mod outputs;
mod project;
mod prompt;
mod prompts;
mod question;
mod rules;
mod settings;
mod trace;
mod transcript;

pub use doctor::{Finding, Health};
pub use env::Environment;
pub use explain::{Asking, Explained, Part, RuleAt, Stage};
pub use facts::look_up;
pub use gate::Surface;
pub use host::{Attachment, Host, HostOptions};
pub use hub::{Published, SessionHub};
pub use live::{LiveSession, SessionSpec};
pub use methods::task_output;
pub use ostler_builtins::pdf_main;
pub use ostler_core::{
    self as core, Answer, AnswerSource, DeniedBy, Prompt, PromptReply, RunEnd, RunReason,
    SessionEvent,
};
pub use ostler_hooks::{
    Action as HookAction, Callbacks, Event as HookEvent, Hook, Matcher as HookMatcher,
};
pub use ostler_permission::{Behavior, PermissionUpdate, split_rule_list};
pub use ostler_provider::{
    BlockKind, Effort, Failure, ModelEvent, ModelInfo, StopReason, Thinking,
};
#[cfg(target_os = "linux")]
pub use ostler_sandbox::hide_own_memory;
pub use ostler_sandbox::supervisor_main;
pub use ostler_store::{Overlay, Root, unknown_settings};
pub use prompt::SystemPrompt;
pub use prompts::Decision;
pub use question::{answered as answered_question, asked as open_question};
pub use settings::overlay as settings_overlay;
pub use trace::{TraceRow, Traced, utc_stamp};

/// The version of the reference whose wire and transcript shapes we follow
/// (agent-sdk.md 1.2).
pub const COMPATIBILITY_VERSION: &str = "2.1.332";

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
