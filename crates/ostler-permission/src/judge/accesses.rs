//! What a call would do, laid out for the steps of the judge.
//!
//! Gathers; decides nothing but which column of the mode table each effect belongs to.

use ostler_protocol::{
    Access, Mode,
    event::{AskSpan, AskTarget},
};
use ostler_stdx::AbsPath;

use super::{Call, matching, script::ScriptSeen};
use crate::{
    facts::Facts,
    mode::{Cell, Column, cell},
    protected,
    rules::{Behavior, Limits},
    shell::How,
};

/// A path that a call touches, with what is known of it.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) how: How,
    /// As spelled, made absolute.
    pub(crate) path: AbsPath,
    /// Links followed; nothing if it is not known where it leads.
    pub(crate) real: Option<AbsPath>,
    pub(crate) inside: bool,
    /// Whether it is known to be no folder.
    pub(crate) is_file: bool,
    /// The last component of a glob.
    pub(crate) last: Option<String>,
    /// Whether all that a glob matches has places of its own.
    pub(crate) expanded: bool,
}

impl Place {
    pub(crate) fn new(how: How, path: &AbsPath, facts: &Facts) -> Self {
        let real = facts.real(path).cloned();
        let inside = real.as_ref().is_some_and(|real| facts.is_inside(real));
        let found = facts.resolved.get(path);
        let is_file = found.is_some_and(|found| found.exists && !found.is_dir);
        Self { how, path: path.clone(), real, inside, is_file, last: None, expanded: false }
    }

    pub(crate) fn writes(&self) -> bool {
        self.how == How::Write
    }

    /// The names under which rules that forbid know it.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = &AbsPath> {
        std::iter::once(&self.path).chain(self.real.as_ref().filter(|real| **real != self.path))
    }

    pub(crate) fn column(&self) -> Column {
        match (self.writes(), self.inside) {
            (false, true) => Column::ReadInside,
            (false, false) => Column::ReadOutside,
            (true, true) => Column::EditInside,
            (true, false) => Column::EditOutside,
        }
    }

    pub(crate) fn protected(&self, facts: &Facts) -> Option<String> {
        let check = if self.writes() { protected::write } else { protected::read };
        self.spellings().find_map(|path| check(path, facts))
    }

    pub(crate) fn describe(&self) -> String {
        let what = if self.writes() { "it writes" } else { "it reads" };
        let place = match (&self.real, self.inside) {
            (None, _) => ", and it is not known where that leads",
            (Some(_), true) => " in the project",
            (Some(_), false) => " outside the project",
        };
        match &self.real {
            Some(real) if *real != self.path => {
                format!("{what} `{}`, which leads to `{real}`{place}", self.path)
            }
            _ => format!("{what} `{}`{place}", self.path),
        }
    }
}

/// One access, laid out.
#[derive(Debug)]
pub(crate) enum SeenAccess<'a> {
    Path(Place),
    Shell(Box<ScriptSeen<'a>>),
    Network { url: &'a str, host: &'a str },
    Mcp { hint: bool },
    Nothing,
    Unknown,
}

/// All accesses of a call.
#[derive(Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) list: Vec<SeenAccess<'a>>,
    pub(crate) read_only: bool,
}

impl<'a> Seen<'a> {
    pub(super) fn new(call: &Call<'a>, tool: &str) -> Self {
        let facts = call.facts;
        let place = |how, path| SeenAccess::Path(Place::new(how, path, facts));
        let mut list: Vec<SeenAccess<'a>> = call
            .accesses
            .iter()
            .map(|access| match access {
                Access::Read { path } => place(How::Read, path),
                Access::Search { root } => place(How::Search, root),
                Access::Write { path } => place(How::Write, path),
                Access::Shell { command, cwd } => {
                    SeenAccess::Shell(Box::new(ScriptSeen::new(command, cwd, facts)))
                }
                Access::Network { url, host } => SeenAccess::Network { url, host },
                Access::Mcp { read_only_hint, .. } => SeenAccess::Mcp { hint: *read_only_hint },
                Access::Nothing => SeenAccess::Nothing,
                Access::Unknown => SeenAccess::Unknown,
            })
            .collect();
        if list.is_empty() && !super::INTERACTIVE.contains(&tool) {
            // A tool that says nothing about what it does is not understood.
            list.push(SeenAccess::Unknown);
        }
        let read_only = list.iter().all(|access| match access {
            SeenAccess::Path(place) => !place.writes(),
            SeenAccess::Shell(script) => script.script.is_read_only(),
            SeenAccess::Network { .. } | SeenAccess::Nothing => true,
            SeenAccess::Mcp { .. } | SeenAccess::Unknown => false,
        });
        Self { list, read_only }
    }

    /// What the mode says to the call as a whole, and to which part.
    pub(super) fn strictest(&self, mode: Mode) -> (Cell, String) {
        let mut worst = (Cell::Yes, String::new());
        for access in &self.list {
            let (next, why) = access.cell(mode);
            if next > worst.0 {
                worst = (next, why);
            }
        }
        worst
    }

    /// Every path touched for certain.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Place> {
        self.list.iter().flat_map(|access| {
            let (one, many) = match access {
                SeenAccess::Path(place) => (Some(place), None),
                SeenAccess::Shell(script) => (None, Some(script.places())),
                _ => (None, None),
            };
            one.into_iter().chain(many.into_iter().flatten())
        })
    }

    /// Why the settings' switches forbid the call, if they do. What it touches is known for
    /// certain only in part: the rest asks, as ever.
    pub(super) fn beyond_limits(&self, limits: Limits) -> Option<String> {
        let (place, key) =
            self.places().filter(|place| !place.inside).find_map(|place| {
                match (place.writes(), limits.reads_inside_only, limits.writes_inside_only) {
                    (true, _, true) => Some((place, "blockWritesOutsideWorkingDirectories")),
                    (false, true, _) => Some((place, "blockReadsOutsideWorkingDirectories")),
                    _ => None,
                }
            })?;
        let what = place.describe();
        Some(format!("{what}, and the settings forbid that (`permissions.{key}`)."))
    }

    /// Why the call asks although the mode would let it run.
    pub(super) fn unsafe_because(&self, call: &Call<'_>) -> Option<String> {
        let protected = self.places().find_map(|place| place.protected(call.facts));
        protected.or_else(|| {
            self.list.iter().find_map(|access| match access {
                SeenAccess::Shell(script) => script.destroys(call.facts),
                _ => None,
            })
        })
    }

    /// The first path that is outside or protected.
    pub(super) fn blocked(&self, call: &Call<'_>) -> Option<AbsPath> {
        let place = self
            .places()
            .find(|place| !place.inside || place.protected(call.facts).is_some())
            .or_else(|| self.places().find(|place| place.writes()))?;
        Some(place.real.clone().unwrap_or_else(|| place.path.clone()))
    }

    pub(super) fn targets(&self) -> Vec<AskTarget> {
        let mut targets: Vec<AskTarget> = Vec::new();
        for place in self.places() {
            let path = place.real.as_ref().unwrap_or(&place.path);
            let target =
                AskTarget { path: Some(path.to_text()), host: None, outside: !place.inside };
            if !targets.contains(&target) && targets.len() < 50 {
                targets.push(target);
            }
        }
        for access in &self.list {
            if let SeenAccess::Network { host, .. } = access
                && !host.is_empty()
            {
                let host = Some((*host).to_owned());
                targets.push(AskTarget { path: None, host, outside: true });
            }
        }
        targets
    }

    pub(super) fn spans(&self) -> Vec<AskSpan> {
        let script = self.list.iter().find_map(|access| match access {
            SeenAccess::Shell(script) => Some(script),
            _ => None,
        });
        script.map(|script| script.script.spans.clone()).unwrap_or_default()
    }

    /// What a searching tool must skip.
    pub(super) fn excluded(&self, call: &Call<'_>, tool: &str) -> Vec<String> {
        let mut excluded = Vec::new();
        for access in &self.list {
            if let SeenAccess::Path(place) = access
                && place.how == How::Search
            {
                for rule in call.rules.of(Behavior::Deny) {
                    excluded.extend(matching::below(call, tool, rule, place));
                }
            }
        }
        excluded.dedup();
        excluded
    }
}

impl SeenAccess<'_> {
    /// What the mode says to this access, and what it is.
    pub(super) fn cell(&self, mode: Mode) -> (Cell, String) {
        match self {
            Self::Path(place) => (cell(mode, place.column()), place.describe()),
            Self::Shell(script) => script.cell(mode),
            Self::Network { host: "", .. } => {
                (cell(mode, Column::Network), "it reaches out to the network".into())
            }
            Self::Network { host, .. } => {
                (cell(mode, Column::Network), format!("it reaches out to `{host}`"))
            }
            Self::Mcp { hint: true } => {
                (cell(mode, Column::McpHint), "it calls a server that says it only reads".into())
            }
            Self::Mcp { hint: false } => (cell(mode, Column::Mcp), "it calls a server".into()),
            Self::Nothing => (Cell::Yes, String::new()),
            Self::Unknown => (cell(mode, Column::Other), "what it does is not known".into()),
        }
    }
}
