//! The agent: turn machine, context building, and the task that drives a session.
//!
//! Acts only through provider, tool, store and the [`Gate`]; does no file, network or
//! process I/O of its own.

pub mod context;
pub mod event;
pub mod failpoint;
pub mod mend;
pub mod session;
pub mod turn;

pub use event::{AskedEvent, Denial, HookRun, RunEnd, RunReason, SessionEvent};
pub use session::{
    Adviser, Command, Gate, GateCall, ModelChoice, Moderation, NoAdviser, Place, PromptReply, Ran,
    Runner, SessionConfig, SessionHandle, SessionParts, SessionSnapshot, Sink, spawn,
};
pub use turn::{
    Advice, Answer, AnswerSource, Aside, DeniedBy, Effect, Input, MOST_RETURNS, Moment, Moments,
    Policy, Prompt, Question, Ruled, Ruling, SettledCall, ToolCall, ToolOutcome, Turn, step,
    tasks_gone,
};
