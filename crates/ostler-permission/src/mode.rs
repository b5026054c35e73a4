//! The table of modes: what happens where no rule and no hook decides.
//!
//! One `const` table; the README prints it and a test holds the two equal. Never asks
//! about rules: those come before and after it, in `judge`.

use std::fmt::Write as _;

use ostler_protocol::Mode;

/// What a mode says to one kind of effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// It runs.
    Yes,
    /// Somebody is asked; with nobody to ask it is refused.
    Ask,
    /// Answered no at once, but an allow rule can still say yes.
    Refuse,
    /// The mode's own denial; no allow rule lifts it.
    No,
}

/// A kind of effect, one column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// Reading in the project.
    ReadInside,
    /// Reading elsewhere.
    ReadOutside,
    /// Reaching out to a host.
    Network,
    /// Changing a file of the project.
    EditInside,
    /// Changing a file elsewhere.
    EditOutside,
    /// A shell command understood as only reading.
    ShellRead,
    /// `mkdir touch rm rmdir mv cp sed` inside the project.
    ShellFiles,
    /// Any other shell command.
    Shell,
    /// A call of an MCP server.
    Mcp,
    /// A call of an MCP server that claims to only read.
    McpHint,
    /// Whatever is not known.
    Other,
}

impl Column {
    /// All columns, in the table's order.
    pub const ALL: [Self; 11] = [
        Self::ReadInside,
        Self::ReadOutside,
        Self::Network,
        Self::EditInside,
        Self::EditOutside,
        Self::ShellRead,
        Self::ShellFiles,
        Self::Shell,
        Self::Mcp,
        Self::McpHint,
        Self::Other,
    ];

    /// The heading in the printed table.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::ReadInside => "read in project",
            Self::ReadOutside => "read outside",
            Self::Network => "network",
            Self::EditInside => "edit in project",
            Self::EditOutside => "edit outside",
            Self::ShellRead => "shell, reads only",
            Self::ShellFiles => "`mkdir touch rm rmdir mv cp sed` in project",
            Self::Shell => "other shell",
            Self::Mcp => "MCP",
            Self::McpHint => "MCP, claims to read",
            Self::Other => "other",
        }
    }
}

use Cell::{Ask, No, Refuse, Yes};

/// One row per mode; cells in the order of [`Column::ALL`].
///
/// `auto` asks where a classifier would decide: there is none.
pub const MODES: [(Mode, [Cell; 11]); 8] = [
    (Mode::Default, [Yes, Ask, Ask, Ask, Ask, Yes, Ask, Ask, Ask, Ask, Ask]),
    (Mode::AcceptEdits, [Yes, Ask, Ask, Yes, Ask, Yes, Yes, Ask, Ask, Ask, Ask]),
    (Mode::Plan, [Yes, Ask, Ask, No, No, Yes, No, No, No, Ask, No]),
    (Mode::Review, [Yes, Ask, Ask, No, No, Yes, Refuse, Refuse, No, Ask, No]),
    (Mode::Explore, [Yes, Refuse, Refuse, No, No, Yes, No, No, No, Refuse, No]),
    (
        Mode::DontAsk,
        [Yes, Refuse, Refuse, Refuse, Refuse, Yes, Refuse, Refuse, Refuse, Refuse, Refuse],
    ),
    (Mode::Auto, [Yes, Ask, Ask, Ask, Ask, Yes, Ask, Ask, Ask, Ask, Ask]),
    (Mode::BypassPermissions, [Yes, Yes, Yes, Yes, Yes, Yes, Yes, Yes, Yes, Yes, Yes]),
];

/// What the mode says to this kind of effect.
#[must_use]
pub fn cell(mode: Mode, column: Column) -> Cell {
    let row = MODES.iter().find(|(name, _)| *name == mode);
    let at = Column::ALL.iter().position(|other| *other == column);
    match (row, at) {
        (Some((_, cells)), Some(at)) => cells[at],
        // Every mode and column is in the table; a later one that is not asks.
        _ => Ask,
    }
}

/// The table as markdown, as the README shows it.
#[must_use]
pub fn modes_markdown() -> String {
    let mut out = String::from("| mode |");
    for column in Column::ALL {
        let _ = write!(out, " {} |", column.title());
    }
    out.push_str("\n|---|");
    out.push_str(&"---|".repeat(Column::ALL.len()));
    for (mode, cells) in &MODES {
        let _ = write!(out, "\n| `{}` |", mode.name());
        for cell in cells {
            let text = match cell {
                Yes => "yes",
                Ask => "ask",
                Refuse => "refuse",
                No => "no",
            };
            let _ = write!(out, " {text} |");
        }
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_has_one_row() {
        for mode in Mode::ALL {
            assert_eq!(MODES.iter().filter(|(row, _)| *row == mode).count(), 1, "{}", mode.name());
        }
    }

    #[test]
    fn the_readme_shows_this_table() {
        let readme = include_str!("../README.md");
        assert!(readme.contains(&modes_markdown()), "put into README.md:\n{}", modes_markdown());
    }

    #[test]
    fn no_mode_but_bypass_lets_an_unknown_effect_run() {
        for mode in Mode::ALL {
            let free = cell(mode, Column::Other) == Yes;
            assert_eq!(free, mode == Mode::BypassPermissions, "{}", mode.name());
        }
    }
}
