//! Settings of a project, merged from all their files, each value with the file it came
//! from (design.md section 5 "Settings"). A repository's files can always tighten and
//! loosen nothing before their content is trusted: that is decided here and nowhere else.

mod brings;
mod edit;
mod file;
mod keys;
mod layers;
mod locate;
mod schema;
mod stamp;
mod table;
#[cfg(test)]
mod tests;
mod trust;

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use ostler_protocol::Mode;
use ostler_stdx::AbsPath;
use serde_json::{Map, Value};

use crate::store::Store;
pub use brings::{Brought, BroughtKind};
pub use edit::{Changed, RuleFile, SettingsChange};
pub(crate) use edit::{object, pretty, wrong};
pub(crate) use file::reason;
use file::{Parsed, SettingsFile};
pub use keys::Keys;
pub use layers::merge as merge_settings;
use layers::{Admission, Layer, Standing};
pub use schema::{settings_page, settings_schema};
pub use stamp::Stamp;
use table::Row;
pub use trust::{TrustReport, TrustState};

/// Where a setting comes from, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// `~/.ostler/settings.json` and its twin in `$CLAUDE_CONFIG_DIR`.
    User,
    /// `<project>/.ostler/settings.json` and its `.claude` twin.
    Project,
    /// `<project>/.ostler/settings.local.json` and its `.claude` twin.
    Local,
    /// The command line (`--settings`) or the Agent SDK's host.
    Flag,
    /// The machine's policy, and what `--managed-settings` adds to it.
    Managed,
}

impl Tier {
    /// Its name for readers: `user`, `project`, `local`, `flag`, `managed`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::Flag => "flag",
            Self::Managed => "managed",
        }
    }
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
#[derive(Debug, Clone, Default, PartialEq)]
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
    /// those that may run: of an untrusted project none, and none that the policy or
    /// `disableAllHooks` takes out.
    pub hooks: Vec<Sourced<Value>>,
    /// `env`: each variable with the file that gives it its value.
    pub env: BTreeMap<String, Sourced<String>>,
    /// All keys, merged: of a scalar the strongest value, of lists all.
    pub keys: Keys,
    /// What waits for trust and how to give it: one line for standard error.
    pub withheld: Option<String>,
    /// Files and values that do not count because they are broken.
    pub problems: Vec<SettingsProblem>,
    /// The machine's policy is there and cannot be read: no session may start.
    pub refusal: Option<SettingsProblem>,
    layers: Vec<Layer>,
}

/// What nothing can lift: switches that forbid, whoever set them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Restrictions {
    /// `permissions.disableBypassPermissionsMode`.
    pub no_bypass: bool,
    /// `permissions.disableAutoMode`.
    pub no_auto: bool,
    /// `permissions.denyInsteadOfPrompting`.
    pub deny_prompts: bool,
    /// `permissions.blockReadsOutsideWorkingDirectories`.
    pub block_reads_outside: bool,
    /// `permissions.blockWritesOutsideWorkingDirectories`.
    pub block_writes_outside: bool,
    /// `allowManagedPermissionRulesOnly`: what the command line or a person allows does
    /// not count, either.
    pub policy_allows_only: bool,
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

impl SettingsProblem {
    /// Whether something does not count because of it; else it is a hint.
    fn is_error(&self) -> bool {
        self.what.contains(file::ONLY_FORBIDS)
    }
}

/// Where in a file, as far as it is known.
fn place(line: usize, column: usize) -> String {
    match (line, column) {
        (0, _) => String::new(),
        (line, 0) => format!(" line {line}"),
        (line, column) => format!(" line {line}, column {column}"),
    }
}

/// Settings that stand in no file of a tier: text as in one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// What messages call it: the flag, or the file that it names.
    pub name: PathBuf,
    /// Its text, JSON.
    pub text: Vec<u8>,
}

/// Which files are read, and what is taken for granted.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// The machine's policy, usually [`MANAGED`].
    pub managed: &'a Path,
    /// What `--managed-settings` adds: of it only what forbids counts.
    pub policy: &'a [Overlay],
    /// `--settings` and what an Agent SDK's host sets later, strongest first.
    pub flags: &'a [Overlay],
    /// Tiers that are read; `Managed` and `Flag` always are.
    pub tiers: &'a [Tier],
    /// How the project is trusted.
    pub trust: Trusting,
    /// Tells whether git tracks a file; asked only for `settings.local.json`.
    pub is_tracked: &'a dyn Fn(&Path) -> bool,
    /// What was in force before: of a file that broke since, what forbids stays.
    pub before: Option<&'a Settings>,
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
#[cfg(not(any(target_os = "macos", windows)))]
pub const MANAGED: &str = "/etc/ostler/managed.json";
/// The policy file of a machine.
#[cfg(target_os = "macos")]
pub const MANAGED: &str = "/Library/Application Support/Ostler/managed.json";
/// The policy file of a machine.
#[cfg(windows)]
pub const MANAGED: &str = r"C:\Program Files\Ostler\managed.json";

impl fmt::Debug for Sources<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { managed, policy, flags, tiers, trust, is_tracked: _, before: _ } = self;
        f.debug_struct("Sources")
            .field("managed", managed)
            .field("policy", policy)
            .field("flags", flags)
            .field("tiers", tiers)
            .field("trust", trust)
            .finish_non_exhaustive()
    }
}

impl<'a> Sources<'a> {
    /// All tiers, stored trust, and `settings.local.json` taken for the repository's own.
    #[must_use]
    pub fn all(managed: &'a Path) -> Self {
        Self {
            managed,
            policy: &[],
            flags: &[],
            tiers: &[Tier::User, Tier::Project, Tier::Local],
            trust: Trusting::Stored,
            is_tracked: &|_| true,
            before: None,
        }
    }
}

impl Store {
    /// Reads and merges the settings of a project. Never fails: what is broken is skipped
    /// and named in `problems`. A policy that is broken is a `refusal`.
    #[must_use]
    pub fn settings(&self, project: &AbsPath, sources: Sources<'_>) -> Settings {
        let content = trust::Content::read(project);
        let trusted = sources.trust == Trusting::ThisRun
            || (!content.is_empty()
                && self.trust_of(project, &content.hash()) == TrustState::Trusted);
        let mut reading =
            Reading { sources, found: Settings::default(), waiting: Waiting::default() };
        for overlay in sources.policy {
            let file = SettingsFile { tier: Tier::Managed, path: overlay.name.clone() };
            reading.take(&file, Standing::Restricts, Ok(Some(overlay.text.clone())));
        }
        for file in self.files(project, &sources) {
            if file.tier < Tier::Managed {
                reading.take_flags();
            }
            let bytes = match file.tier {
                Tier::Project | Tier::Local => Ok(content.bytes(&file.path).map(<[u8]>::to_vec)),
                Tier::User | Tier::Flag | Tier::Managed => file::load(&file.path),
            };
            let standing = match file.tier {
                Tier::Project | Tier::Local if trusted => Standing::Full,
                Tier::Project => Standing::Waits,
                Tier::Local if (sources.is_tracked)(&file.path) => Standing::Waits,
                Tier::Local => Standing::WaitsButAllow,
                Tier::User | Tier::Flag | Tier::Managed => Standing::Full,
            };
            reading.take(&file, standing, bytes);
        }
        reading.take_flags();
        reading.finish(project)
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

/// Checks settings that do not stand in a file of a tier, before a session begins with them.
///
/// # Errors
/// What is no JSON or of a wrong type.
pub fn check_settings(overlay: &Overlay) -> Result<(), Vec<SettingsProblem>> {
    match file::parse(&overlay.name, &overlay.text) {
        Ok(Parsed { is_valid: true, .. }) => Ok(()),
        Ok(Parsed { problems, .. }) => Err(problems),
        Err(problem) => Err(vec![problem]),
    }
}

/// The keys of settings that Ostler does not know, so that whoever relies on them can be
/// told. `$schema` is none.
#[must_use]
pub fn unknown_settings(overlay: &Overlay) -> Vec<String> {
    fn group(prefix: &str, map: &Map<String, Value>, found: &mut Vec<String>) {
        for (name, value) in map {
            let path = file::join(prefix, name);
            match value {
                Value::Object(below) if table::is_group(&path) => group(&path, below, found),
                _ if table::find(&path).is_some() || path == "$schema" => {}
                _ => found.push(path),
            }
        }
    }
    let mut found = Vec::new();
    if let Ok(parsed) = file::parse(&overlay.name, &overlay.text) {
        group("", &parsed.keys, &mut found);
    }
    found
}

/// What waits for trust.
#[derive(Debug, Default)]
struct Waiting {
    parts: Vec<(String, PathBuf, usize)>,
}

impl Waiting {
    fn add(&mut self, row: &Row, value: &Value, file: &Path) {
        let count = layers::count(row, value);
        let what =
            if row.noun.is_empty() { format!("`{}`", row.path) } else { row.noun.to_owned() };
        let same = self.parts.iter_mut().find(|part| part.0 == what && part.1 == file);
        match same {
            Some(part) => part.2 += count,
            None if count > 0 => self.parts.push((what, file.to_path_buf(), count)),
            None => {}
        }
    }

    fn text(&self, project: &AbsPath) -> Option<String> {
        let part = |(what, file, count): &(String, PathBuf, usize)| {
            let file = layers::name(file);
            match (what.starts_with('`'), count) {
                (true, _) => format!("{what} in {file}"),
                (false, 1) => format!("1 {what} in {file}"),
                (false, _) => format!("{count} {what}s in {file}"),
            }
        };
        (!self.parts.is_empty()).then(|| {
            let parts = self.parts.iter().map(part).collect::<Vec<_>>().join(", ");
            format!("this project is not trusted, so these wait: {parts}; `ostler trust {project}` lets them count")
        })
    }
}

/// Settings that are being read, strongest file first.
struct Reading<'a> {
    sources: Sources<'a>,
    found: Settings,
    waiting: Waiting,
}

impl Reading<'_> {
    fn take(
        &mut self,
        file: &SettingsFile,
        standing: Standing,
        bytes: Result<Option<Vec<u8>>, SettingsProblem>,
    ) {
        let parsed = match bytes {
            Ok(None) => return,
            Ok(Some(bytes)) => file::parse(&file.path, &bytes),
            Err(problem) => Err(problem),
        };
        let parsed = match parsed {
            Ok(parsed) => parsed,
            Err(problem) => return self.broken(file, problem),
        };
        if file.tier == Tier::Managed && !parsed.is_valid {
            let problem = parsed.problems.iter().find(|problem| problem.is_error()).cloned();
            if let Some(problem) = problem {
                return self.broken(file, problem);
            }
        }
        self.found.problems.extend(parsed.problems.iter().cloned());
        let before = self.before(file).filter(|_| !parsed.is_valid);
        let (mut layer, complaints) =
            Admission::new(file, standing, &mut self.waiting).admit(parsed);
        if let Some(before) = before {
            layers::merge(&mut layer.keys, before.keys);
        }
        self.found.problems.extend(complaints.into_iter().map(|what| SettingsProblem {
            file: file.path.clone(),
            line: 0,
            column: 0,
            what,
        }));
        self.found.layers.push(layer);
    }

    /// A file that cannot be read: what it forbade before it broke stays forbidden.
    fn broken(&mut self, file: &SettingsFile, problem: SettingsProblem) {
        let before = self.before(file);
        if file.tier == Tier::Managed && before.is_none() {
            let what = format!(
                "the policy of this machine cannot be read, so no session starts: {}",
                problem.what
            );
            self.found.refusal.get_or_insert(SettingsProblem { what, ..problem.clone() });
        }
        let mut problem = problem;
        if before.is_some() {
            problem.what.push_str("; what it forbade before still holds");
        }
        self.found.problems.push(problem);
        self.found.layers.extend(before);
    }

    fn before(&self, file: &SettingsFile) -> Option<Layer> {
        let layers = self.sources.before.map_or(&[][..], |before| &before.layers);
        let layer = layers.iter().find(|layer| layer.file == *file)?;
        // The policy stays as it was; of others what forbids does.
        Some(if file.tier == Tier::Managed { layer.clone() } else { layers::restricting(layer) })
    }

    /// Takes the command line's settings, once.
    fn take_flags(&mut self) {
        for overlay in std::mem::take(&mut self.sources.flags) {
            let file = SettingsFile { tier: Tier::Flag, path: overlay.name.clone() };
            self.take(&file, Standing::Full, Ok(Some(overlay.text.clone())));
        }
    }

    fn finish(self, project: &AbsPath) -> Settings {
        let Self { mut found, waiting, .. } = self;
        layers::subdue(&mut found.layers);
        let mut all = layers::merged(&found.layers);
        // Every value was checked; what cannot be put together is left to the sources.
        found.keys = serde_json::from_value(Value::Object(all.clone())).unwrap_or_default();
        if let Some(Value::Object(sandbox)) = all.shift_remove("sandbox") {
            found.sandbox = sandbox;
        }
        for layer in &found.layers {
            for behavior in [Behavior::Deny, Behavior::Ask, Behavior::Allow] {
                let path = format!("permissions.{}", behavior.key());
                let texts = texts(layer, &path).map(|text| Rule { behavior, text });
                found.rules.extend(texts.map(|rule| layer.file.sourced(rule)));
            }
            let folders = texts(layer, "permissions.additionalDirectories");
            found.additional_directories.extend(folders.map(|folder| layer.file.sourced(folder)));
            if let Some(hooks) = layer.keys.get("hooks") {
                found.hooks.push(layer.file.sourced(hooks.clone()));
            }
            for (name, value) in
                layer.keys.get("env").and_then(Value::as_object).into_iter().flatten()
            {
                if let Some(value) = value.as_str() {
                    let value = layer.file.sourced(value.to_owned());
                    found.env.entry(name.clone()).or_insert(value);
                }
            }
        }
        found.default_mode =
            found.strongest("permissions.defaultMode", |v| v.as_str().and_then(Mode::parse));
        found.model = found.strongest("model", |value| value.as_str().map(str::to_owned));
        found.withheld = waiting.text(project);
        found
    }
}

/// The texts of a list.
fn texts(layer: &Layer, path: &str) -> impl Iterator<Item = String> {
    let list = layers::get(&layer.keys, path).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|text| text.as_str().map(str::to_owned))
}

impl Settings {
    fn strongest<T>(&self, path: &str, read: impl Fn(&Value) -> Option<T>) -> Option<Sourced<T>> {
        let found = layers::origin(&self.layers, path).into_iter().next()?;
        Some(Sourced { value: read(found.value)?, tier: found.tier, file: found.file })
    }

    /// Where a value comes from, strongest first: of a scalar one file, of a list or an
    /// object every file that adds to it. The key is written with the names of the objects
    /// around it: `permissions.deny`.
    #[must_use]
    pub fn origin(&self, key: &str) -> Vec<Sourced<&Value>> {
        layers::origin(&self.layers, key)
    }

    /// The value of a key in force, merged.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value> {
        layers::get(&layers::merged(&self.layers), key).cloned()
    }

    /// All keys in force that Ostler knows, each with the name to ask for it by.
    #[must_use]
    pub fn known_keys(&self) -> Vec<&'static str> {
        table::ROWS.iter().map(|row| row.path).filter(|key| !self.origin(key).is_empty()).collect()
    }

    /// The switches that forbid.
    #[must_use]
    pub fn restrictions(&self) -> Restrictions {
        let keys = self.keys.permissions.clone().unwrap_or_default();
        Restrictions {
            no_bypass: keys.disable_bypass_permissions_mode.is_some(),
            no_auto: keys.disable_auto_mode.is_some(),
            deny_prompts: keys.deny_instead_of_prompting == Some(true),
            block_reads_outside: keys.block_reads_outside_working_directories == Some(true),
            block_writes_outside: keys.block_writes_outside_working_directories == Some(true),
            policy_allows_only: self.keys.allow_managed_permission_rules_only == Some(true),
        }
    }
}

/// All keys that Ostler knows.
#[must_use]
pub fn settings_keys() -> Vec<&'static str> {
    table::ROWS.iter().map(|row| row.path).collect()
}
