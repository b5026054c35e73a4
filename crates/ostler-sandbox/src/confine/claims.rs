//! The means of confinement, and what each gives.

use std::fmt;

use super::policy::{Network, Policy};

/// By what means commands are confined, the strongest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Level {
    /// Linux namespaces, made by `bwrap`, with a system call filter.
    Bubblewrap {
        /// What `bwrap --version` says.
        version: String,
    },
    /// Linux Landlock with a system call filter.
    Landlock {
        /// The version of the kernel's interface.
        abi: u32,
    },
    /// The macOS sandbox.
    Seatbelt,
    /// Nothing.
    None,
}

impl Level {
    /// The name in one word.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bubblewrap { .. } => "bubblewrap",
            Self::Landlock { .. } => "landlock",
            Self::Seatbelt => "seatbelt",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bubblewrap { version } => write!(f, "bubblewrap ({version})"),
            Self::Landlock { abi } => write!(f, "landlock (ABI {abi})"),
            Self::Seatbelt | Self::None => f.write_str(self.name()),
        }
    }
}

/// One thing that a sandbox does or does not give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// What.
    pub what: &'static str,
    /// Whether it holds.
    pub holds: bool,
    /// Why not, or within which bounds.
    pub note: &'static str,
}

impl Claim {
    fn new(what: &'static str, holds: bool, note: &'static str) -> Self {
        Self { what, holds, note }
    }
}

/// What a level gives for a policy.
#[must_use]
pub(super) fn claims(level: &Level, policy: &Policy) -> Vec<Claim> {
    let names = matches!(level, Level::Bubblewrap { .. } | Level::Seatbelt);
    let any = *level != Level::None;
    let sockets = !policy.all_unix_sockets && policy.unix_sockets.is_empty();
    let tcp = match level {
        Level::Bubblewrap { .. } | Level::Seatbelt => true,
        Level::Landlock { abi } => *abi >= 4,
        Level::None => false,
    };
    let reach = match policy.network {
        Network::Open => Claim::new("network filtered", false, "the settings leave it open"),
        Network::Closed => {
            Claim::new("network closed", tcp, lacks(tcp, "the kernel cannot refuse TCP"))
        }
        Network::Proxied => {
            Claim::new("network filtered by host", tcp, lacks(tcp, "the kernel cannot refuse TCP"))
        }
    };
    vec![
        Claim::new(
            "writes confined",
            any && policy.files_confined,
            match (policy.files_confined, level) {
                (false, _) => "the settings turn it off",
                (true, Level::Landlock { .. }) => {
                    "but modes, owners and times of files outside can be changed"
                }
                _ => "",
            },
        ),
        Claim::new("denied files unreadable", any && policy.files_confined, ""),
        Claim::new(
            "protected names read-only",
            names && policy.files_confined,
            lacks(names, "this means cannot except a name inside a writable folder"),
        ),
        reach,
        Claim::new(
            "Unix sockets refused",
            any && sockets && !matches!(level, Level::Seatbelt),
            lacks(sockets, "the settings allow some"),
        ),
        Claim::new(
            "other processes hidden",
            matches!(level, Level::Bubblewrap { .. }),
            lacks(
                matches!(level, Level::Bubblewrap { .. }),
                "they are seen, but not their memory or variables",
            ),
        ),
    ]
}

fn lacks(holds: bool, why: &'static str) -> &'static str {
    if holds { "" } else { why }
}
