//! Settings of a project, merged from all their files, each value with the file it came
//! from (design.md section 5 "Settings"). A repository's files can always tighten and
//! loosen nothing before their content is trusted: that is decided here and nowhere else.

mod edit;
mod file;
mod sandbox;
#[cfg(test)]
mod tests;
mod trust;

use std::{
    fmt,
    path::{Path, PathBuf},
};

use ostler_protocol::Mode;
use ostler_stdx::AbsPath;
use serde_json::{Map, Value};

use crate::store::Store;
pub use edit::RuleFile;
pub(crate) use edit::{object, pretty, wrong};
pub(crate) use file::reason;
use file::{Loaded, SettingsFile};
pub use sandbox::merge as merge_settings;
pub use trust::TrustState;

/// Where a setting comes from, weakest first. Command line and SDK stand between `Local`
/// and `Managed`; they are no files and the caller's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// `~/.ostler/settings.json` and its twin in `$CLAUDE_CONFIG_DIR`.
    User,
    /// `<project>/.ostler/settings.json` and its `.claude` twin.
    Project,
    /// `<project>/.ostler/settings.local.json` and its `.claude` twin.
    Local,
    /// The machine's policy.
    Managed,
}

/// What a rule says about what it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Behavior {
    /// It may happen.
    Allow,
    /// The person is asked.
    Ask,
    /// It may not happen.
    Deny,
}

impl Behavior {
    /// The name of its list in a settings file.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// The tier of its file.
    pub tier: Tier,
    /// Its file.
    pub file: PathBuf,
}

/// A permission rule as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What it says.
    pub behavior: Behavior,
    /// Its text, such as `Bash(git *)`.
    pub text: String,
}

/// What is in force for a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Rules of all files, strongest tier first.
    pub rules: Vec<Sourced<Rule>>,
    /// `permissions.defaultMode` of the strongest file that has one.
    pub default_mode: Option<Sourced<Mode>>,
    /// `permissions.additionalDirectories` of all files, as written.
    pub additional_directories: Vec<Sourced<String>>,
    /// `model` of the strongest file that has one.
    pub model: Option<Sourced<String>>,
    /// `sandbox` of all files as one object (agent-sdk.md 5.7).
    pub sandbox: Map<String, Value>,
    /// `hooks` of every file that has them, strongest first: event name to a list of
    /// `{matcher?, hooks: [...]}` or of flat entries (agent-sdk.md 5.6, ipc.md 5.4). Only
    /// those that may run: of an untrusted project none.
    pub hooks: Vec<Sourced<Value>>,
    /// What waits for trust and how to give it: one line for standard error.
    pub withheld: Option<String>,
    /// Files and values that do not count because they are broken.
    pub problems: Vec<SettingsProblem>,
}

/// A file, or a value in it, that does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}`{}: {what}", file.display(), place(*line, *column))]
pub struct SettingsProblem {
    /// The file.
    pub file: PathBuf,
    /// Line, from 1; 0 if unknown.
    pub line: usize,
    /// Column, from 1; 0 if unknown.
    pub column: usize,
    /// What is wrong and what to do.
    pub what: String,
}

/// Where in a file, as far as it is known.
fn place(line: usize, column: usize) -> String {
    match (line, column) {
        (0, _) => String::new(),
        (line, 0) => format!(" line {line}"),
        (line, column) => format!(" line {line}, column {column}"),
    }
}

/// Which files are read, and what is taken for granted.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// The machine's policy, usually `/etc/ostler/managed.json`.
    pub managed: &'a Path,
    /// Tiers that are read; `Managed` always is.
    pub tiers: &'a [Tier],
    /// How the project is trusted.
    pub trust: Trusting,
    /// Tells whether git tracks a file; asked only for `settings.local.json`.
    pub is_tracked: &'a dyn Fn(&Path) -> bool,
}

/// How a project is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trusting {
    /// By the trust that was given before.
    Stored,
    /// For this run (`--trust`).
    ThisRun,
}

/// The policy file of a machine.
pub const MANAGED: &str = "/etc/ostler/managed.json";

impl fmt::Debug for Sources<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { managed, tiers, trust, is_tracked: _ } = self;
        f.debug_struct("Sources")
            .field("managed", managed)
            .field("tiers", tiers)
            .field("trust", trust)
            .finish_non_exhaustive()
    }
}

impl<'a> Sources<'a> {
    /// All tiers, stored trust, and `settings.local.json` taken for the repository's own.
    #[must_use]
    pub fn all(managed: &'a Path) -> Self {
        let tiers = &[Tier::User, Tier::Project, Tier::Local];
        Self { managed, tiers, trust: Trusting::Stored, is_tracked: &|_| true }
    }
}

impl Store {
    /// Reads and merges the settings of a project. Never fails: what is broken is skipped
    /// whole and named in `problems`.
    #[must_use]
    pub fn settings(&self, project: &AbsPath, sources: Sources<'_>) -> Settings {
        let content = trust::Content::read(project);
        let trusted = sources.trust == Trusting::ThisRun
            || self.trust_of(project, &content.hash()) == TrustState::Trusted;
        let mut merged = Settings::default();
        let mut waiting = Waiting::default();
        for file in self.files(project, &sources) {
            let loaded = match content.bytes(&file.path) {
                Some(bytes) => file::parse(&file.path, bytes),
                None if file.tier == Tier::Project || file.tier == Tier::Local => continue,
                None => file::load(&file.path),
            };
            let Some(loaded) = loaded.unwrap_or_else(|problem| {
                merged.problems.push(problem);
                None
            }) else {
                continue;
            };
            merged.add(&file, loaded, Grant::of(&file, trusted, sources.is_tracked), &mut waiting);
        }
        merged.withheld = waiting.text(project);
        merged
    }

    /// The files of all tiers, strongest first.
    fn files(&self, project: &AbsPath, sources: &Sources<'_>) -> Vec<SettingsFile> {
        let roots = self.roots();
        let file = |tier, path: PathBuf| SettingsFile { tier, path };
        let of_project = |name: &str| project.join(name).to_path_buf();
        let all = [
            file(Tier::Managed, sources.managed.to_path_buf()),
            file(Tier::Local, of_project(".ostler/settings.local.json")),
            file(Tier::Local, of_project(".claude/settings.local.json")),
            file(Tier::Project, of_project(".ostler/settings.json")),
            file(Tier::Project, of_project(".claude/settings.json")),
            file(Tier::User, roots.home.join("settings.json").to_path_buf()),
            file(Tier::User, roots.claude.join("settings.json").to_path_buf()),
        ];
        let is_read =
            |file: &SettingsFile| file.tier == Tier::Managed || sources.tiers.contains(&file.tier);
        let mut files: Vec<SettingsFile> = all.into_iter().filter(is_read).collect();
        // In the home folder itself, the user's files are the project's too: they are the user's.
        let users: Vec<PathBuf> =
            files.iter().filter(|f| f.tier == Tier::User).map(|f| f.path.clone()).collect();
        files.retain(|file| file.tier != Tier::Project || !users.contains(&file.path));
        files
    }
}

/// What a file may loosen.
#[derive(Debug, Clone, Copy)]
struct Grant {
    allow: bool,
    rest: bool,
}

impl Grant {
    fn of(file: &SettingsFile, trusted: bool, is_tracked: &dyn Fn(&Path) -> bool) -> Self {
        match file.tier {
            Tier::Managed | Tier::User => Self { allow: true, rest: true },
            Tier::Project => Self { allow: trusted, rest: trusted },
            Tier::Local => Self { allow: trusted || !is_tracked(&file.path), rest: trusted },
        }
    }
}

/// What waits for trust.
#[derive(Debug, Default)]
struct Waiting {
    parts: Vec<String>,
}

impl Waiting {
    fn add(&mut self, count: usize, what: &str, file: &Path) {
        if count > 0 {
            let plural = if count == 1 { "" } else { "s" };
            self.parts.push(format!("{count} {what}{plural} in `{}`", file.display()));
        }
    }

    fn text(&self, project: &AbsPath) -> Option<String> {
        (!self.parts.is_empty()).then(|| {
            let parts = self.parts.join(", ");
            format!("this project is not trusted, so these wait: {parts}; `ostler trust {project}` lets them count")
        })
    }
}

impl Settings {
    fn add(&mut self, file: &SettingsFile, loaded: Loaded, grant: Grant, waiting: &mut Waiting) {
        let lists = [
            (Behavior::Deny, loaded.deny),
            (Behavior::Ask, loaded.ask),
            (Behavior::Allow, loaded.allow),
        ];
        for (behavior, texts) in lists {
            if behavior == Behavior::Allow && !grant.allow {
                waiting.add(texts.len(), "allow rule", &file.path);
                continue;
            }
            let rules = texts.into_iter().map(|text| file.sourced(Rule { behavior, text }));
            self.rules.extend(rules);
        }
        if let Some(name) = loaded.default_mode {
            match Mode::parse(&name) {
                None => self.problems.push(SettingsProblem {
                    file: file.path.clone(),
                    line: 0,
                    column: 0,
                    what: format!("unknown `permissions.defaultMode` `{name}`; use one of `default`, `acceptEdits`, `plan`, `dontAsk`"),
                }),
                Some(_) if !grant.rest => waiting.add(1, "default mode", &file.path),
                // A mode that loosens is the user's own choice, whoever wrote the file.
                Some(Mode::BypassPermissions | Mode::Auto | Mode::AcceptEdits)
                    if file.tier == Tier::Project =>
                {
                    self.problems.push(SettingsProblem {
                        file: file.path.clone(),
                        line: 0,
                        column: 0,
                        what: format!("`permissions.defaultMode` `{name}` does not count in a project's file; set it in `~/.ostler/settings.json`"),
                    });
                }
                Some(mode) => {
                    self.default_mode.get_or_insert(file.sourced(mode));
                }
            }
        }
        if grant.rest {
            let folders = loaded.additional_directories.into_iter();
            self.additional_directories.extend(folders.map(|folder| file.sourced(folder)));
        } else {
            waiting.add(loaded.additional_directories.len(), "additional folder", &file.path);
        }
        let wanted = if grant.rest {
            loaded.sandbox
        } else {
            let (kept, more) = sandbox::tightening(&loaded.sandbox);
            waiting.add(usize::from(more), "sandbox setting", &file.path);
            kept
        };
        sandbox::merge(&mut self.sandbox, wanted);
        if !loaded.hooks.is_empty() {
            if grant.rest {
                self.hooks.push(file.sourced(loaded.hooks.into()));
            } else {
                let count = loaded.hooks.values().filter_map(Value::as_array).map(Vec::len).sum();
                waiting.add(count, "hook", &file.path);
            }
        }
        if let Some(model) = loaded.model {
            self.model.get_or_insert(file.sourced(model));
        }
    }
}
