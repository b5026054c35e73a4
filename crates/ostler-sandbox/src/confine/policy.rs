//! What a confined command may do. Only data.

use std::collections::{BTreeMap, BTreeSet};

use ostler_stdx::AbsPath;

/// What a command may write, read and reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Folders and files that may be written, with all that lies below.
    pub write: Vec<AbsPath>,
    /// What may not be written although it lies in [`Policy::write`].
    pub deny_write: Vec<AbsPath>,
    /// What may not be read; everything else may.
    pub deny_read: Vec<AbsPath>,
    /// What may be read although it lies in [`Policy::deny_read`].
    pub allow_read: Vec<AbsPath>,
    /// The project, in which the names that other programs obey stay as they are.
    pub project: Option<AbsPath>,
    /// The session's own folder for temporary files, writable, shown as `/tmp` where
    /// that can be.
    pub temp: Option<AbsPath>,
    /// Whether writing is confined at all (`filesystem.disabled` turns it off).
    pub files_confined: bool,
    /// What may be reached.
    pub network: Network,
    /// Sockets in the file system that may be connected to.
    pub unix_sockets: Vec<AbsPath>,
    /// Any socket in the file system may be connected to.
    pub all_unix_sockets: bool,
    /// The command may listen on and connect to this machine's own addresses.
    pub local_binding: bool,
    /// Variables that the command does not get.
    pub hidden_vars: BTreeSet<String>,
    /// Variables whose value is replaced.
    pub masked_vars: BTreeMap<String, String>,
    /// The command may make user namespaces of its own.
    pub nested_namespaces: bool,
}

/// What a command may reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Network {
    /// Everything.
    Open,
    /// Nothing.
    #[default]
    Closed,
    /// What the session's proxy lets through.
    Proxied,
}
