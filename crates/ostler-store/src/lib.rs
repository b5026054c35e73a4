//! What outlives the process: session logs, their index, settings and config files.
//!
//! Everything blocks and nothing is async: an append is one `write`, and the callers that
//! read whole files do so off the path of a running turn.

mod atomic;
mod carried;
mod error;
mod journal;
mod lock;
mod log;
pub mod record;
mod replay;
mod slug;
mod store;
mod time;

pub use error::{Error, Result};
pub use journal::{JournalTail, OpenBlock};
pub use log::SessionLog;
pub use replay::{Replay, ToolFacts, fuzz_log};
pub use slug::slug;
pub use store::{Header, Located, Root, Roots, Store, is_session_id};
