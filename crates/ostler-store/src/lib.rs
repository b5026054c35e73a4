//! What outlives the process: session logs, their index, settings and config files.
//!
//! Everything blocks and nothing is async: an append is one `write`, and the callers that
//! read whole files do so off the path of a running turn.

mod atomic;
mod blob;
mod carried;
mod checkpoint;
mod config;
mod error;
mod index;
mod journal;
mod lock;
mod log;
mod output;
pub mod record;
mod replay;
mod settings;
mod shelf;
mod slug;
mod store;
mod time;

pub use blob::{BlobId, Blobs, Pruned, Taken};
pub use checkpoint::{
    Before, Checkpoints, Conflict, FileChange, KeptPath, Limits, Manifest, Reason, State, Step,
    Uncovered, Undone, Unkept, Want,
};
pub use config::{Config, ProviderConfig};
pub use error::{Error, Result};
pub use index::{Filter, Listing, Problem, Row};
pub use journal::{JournalTail, OpenBlock};
pub use log::SessionLog;
pub use output::{OutputFile, OutputFiles, OutputLimits, Page, PageLine, PageQuery, Saved};
pub use replay::{Replay, ToolFacts, fuzz_log};
pub use settings::{
    Behavior, Brought, BroughtKind, Changed, Keys, MANAGED, Overlay, Restrictions, Rule, RuleFile,
    Settings, SettingsChange, SettingsProblem, Sourced, Sources, Stamp, Tier, TrustReport,
    TrustState, Trusting, check_settings, merge_settings, settings_keys, settings_page,
    settings_schema, unknown_settings,
};
pub use slug::slug;
pub use store::{Header, Located, Root, Roots, Store, is_session_id};
