//! User hooks: read from settings, matched to events, run within bounds, their answers
//! decoded and combined. Knows nothing of sessions, rules or front ends.

mod answer;
mod combine;
mod config;
mod engine;
mod event;
mod hook;
mod input;
mod matcher;
mod run;

pub use answer::{Answer, Decision, NewInput, PermissionAnswer};
pub use combine::Outcome;
pub use config::{Only, Parsed, Source, parse};
pub use engine::{Engine, EngineParts, Firing, Fits, Late, Observer, Run, RunEnd, RunOutcome};
pub use event::Event;
pub use hook::{Action, CommandAction, DEFAULT_TIMEOUT, Hook, HttpAction, MAX_TIMEOUT, Shell};
pub use input::Common;
pub use matcher::Matcher;
pub use run::{AskModel, Callbacks};

/// Holds the example of the README to what compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
