//! What outlives the process: session logs, their index, settings and config files.

pub mod record;
