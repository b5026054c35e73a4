//! Reads the settings that hold for a session and hands their parts on in the types of
//! whoever uses them. Decides nothing itself: merging and trust are the store's.

#[cfg(test)]
mod tests;
mod watch;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use ostler_permission::{Behavior, Limits, RuleSource, Rules};
use ostler_protocol::{ErrorKind, Mode, RpcError};
use ostler_sandbox::SandboxSettings;
use ostler_stdx::AbsPath;
use ostler_store::{
    Overlay, Restrictions, Settings, Sources, Stamp, Store, Tier, Trusting, check_settings,
};
use serde_json::{Map, Value};

use crate::{host::Host, live::SessionSpec};
pub(crate) use watch::{Look, Watch};

/// What the settings of a session's command line are called in messages.
const FLAG: &str = "--settings";

/// What settings say for a session.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) rules: Rules,
    pub(crate) default_mode: Option<Mode>,
    pub(crate) model: Option<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) extra_dirs: Vec<AbsPath>,
    pub(crate) sandbox: SandboxSettings,
    /// Variables for child processes.
    pub(crate) env: BTreeMap<OsString, OsString>,
    /// Names that child processes get though they look like a secret.
    pub(crate) pass_env: Vec<String>,
    pub(crate) restrictions: Restrictions,
    /// All of it, for who needs more.
    pub(crate) found: Settings,
}

/// From where a session's settings are read.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    store: Store,
    managed: PathBuf,
    project: AbsPath,
    tiers: Vec<Tier>,
    trust: Trusting,
    policy: Vec<Overlay>,
    flags: Vec<Overlay>,
}

/// Reads the settings that hold for a session.
pub(crate) fn load(host: &Host, spec: &SessionSpec) -> Loaded {
    Place::of(host, spec).read(None)
}

impl Place {
    pub(crate) fn of(host: &Host, spec: &SessionSpec) -> Self {
        let tiers = [("user", Tier::User), ("project", Tier::Project), ("local", Tier::Local)]
            .into_iter()
            .filter(|(name, _)| {
                let sources = spec.setting_sources.as_ref();
                sources.is_none_or(|sources| sources.iter().any(|source| source == name))
            })
            .map(|(_, tier)| tier)
            .collect();
        Self {
            store: host.store().clone(),
            managed: host.managed().to_path_buf(),
            project: spec.cwd.clone(),
            tiers,
            trust: if spec.trust { Trusting::ThisRun } else { Trusting::Stored },
            policy: spec.managed_settings.iter().cloned().collect(),
            flags: spec.settings.iter().cloned().collect(),
        }
    }

    fn sources<'a>(&'a self, before: Option<&'a Settings>) -> Sources<'a> {
        Sources {
            managed: &self.managed,
            policy: &self.policy,
            flags: &self.flags,
            tiers: &self.tiers,
            trust: self.trust,
            is_tracked: &crate::git::is_tracked,
            before,
        }
    }

    fn stamp(&self) -> Stamp {
        self.store.settings_stamp(&self.project, &self.sources(None))
    }

    fn read(&self, before: Option<&Settings>) -> Loaded {
        let mut found = self.store.settings(&self.project, self.sources(before));
        let mut loaded = Loaded::default();
        loaded.warnings.extend(found.withheld.take());
        loaded.warnings.extend(found.problems.iter().map(ToString::to_string));
        for rule in &found.rules {
            add_rule(&mut loaded, rule);
        }
        let restrictions = found.restrictions();
        loaded.rules.set_limits(Limits {
            reads_inside_only: restrictions.block_reads_outside,
            writes_inside_only: restrictions.block_writes_outside,
            asks_nobody: restrictions.deny_prompts,
        });
        loaded.sandbox = sandbox_settings(std::mem::take(&mut found.sandbox), &mut loaded.warnings);
        loaded.default_mode = found.default_mode.as_ref().map(|mode| mode.value);
        loaded.model = found.model.as_ref().map(|model| model.value.clone());
        loaded.extra_dirs = found
            .additional_directories
            .iter()
            .map(|dir| self.project.join(Path::new(&dir.value)))
            .collect();
        loaded.env = found
            .env
            .iter()
            .map(|(name, value)| (name.into(), value.value.as_str().into()))
            .collect();
        loaded.pass_env = found.keys.pass_env.clone().unwrap_or_default();
        loaded.restrictions = restrictions;
        loaded.found = found;
        loaded
    }

    /// Takes keys into the settings of the command line, as a host does while a session
    /// runs (agent-sdk.md 2.11): whole keys of the first level, null takes one out.
    ///
    /// # Errors
    /// What is of a wrong type; nothing is taken then.
    fn apply(&mut self, keys: &Map<String, Value>) -> Result<(), RpcError> {
        let held = self.flags.first().map(|overlay| overlay.text.as_slice()).unwrap_or(b"{}");
        let mut all: Map<String, Value> = serde_json::from_slice(held).unwrap_or_default();
        for (key, value) in keys {
            match value {
                Value::Null => drop(all.shift_remove(key)),
                value => drop(all.insert(key.clone(), value.clone())),
            }
        }
        let text = serde_json::to_vec(&all).unwrap_or_default();
        let overlay = Overlay { name: FLAG.into(), text };
        check(&overlay)?;
        self.flags = vec![overlay];
        Ok(())
    }
}

/// Settings given on the command line: JSON in the argument itself, or a file's name.
///
/// # Errors
/// `settings`: the file that cannot be read, or every value that is wrong, with its place.
pub fn overlay(cwd: &AbsPath, flag: &str, argument: &str) -> Result<Overlay, RpcError> {
    let inline = argument.trim_start().starts_with('{');
    let overlay = if inline {
        Overlay { name: flag.into(), text: argument.as_bytes().to_vec() }
    } else {
        let path = cwd.join(argument);
        let text = std::fs::read(path.as_path()).map_err(|error| {
            RpcError::new(ErrorKind::Settings, format!("{flag}: cannot read `{path}`: {error}"))
        })?;
        Overlay { name: path.to_path_buf(), text }
    };
    check(&overlay)?;
    Ok(overlay)
}

fn check(overlay: &Overlay) -> Result<(), RpcError> {
    check_settings(overlay).map_err(|problems| {
        let text = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        RpcError::new(ErrorKind::Settings, text)
    })
}

/// A rule of a file. One that forbids and cannot be read forbids its whole tool: left out,
/// it would forbid nothing.
fn add_rule(loaded: &mut Loaded, rule: &ostler_store::Sourced<ostler_store::Rule>) {
    let source = match rule.tier {
        Tier::Managed => RuleSource::Managed,
        Tier::Flag => RuleSource::CliArg,
        Tier::Local => RuleSource::Local,
        Tier::Project => RuleSource::Project,
        Tier::User => RuleSource::User,
    };
    let behavior = behavior_of(rule.value.behavior);
    let mut add = |text: &str| match AbsPath::new(rule.file.clone()) {
        Ok(file) => {
            let root = root_of(&file, rule.tier);
            loaded.rules.add_from_file(behavior, text, source, file, root)
        }
        Err(_) => loaded.rules.add(behavior, text, source),
    };
    let text = &rule.value.text;
    let Err(error) = add(text) else { return };
    let file = rule.file.display();
    let tool =
        text.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').next();
    let stands_in = tool.filter(|tool| behavior != Behavior::Allow && add(tool).is_ok());
    loaded.warnings.push(match stands_in {
        Some(tool) => format!(
            "`{file}`: rule `{text}` cannot be read, so until it is corrected it holds for all of `{tool}`: {error}"
        ),
        None => format!("`{file}`: rule left out: {error}"),
    });
}

/// The settings of the sandbox. What cannot be read is said, and is no way out of a sandbox
/// that was asked for.
fn sandbox_settings(all: Map<String, Value>, warnings: &mut Vec<String>) -> SandboxSettings {
    let enabled = all.get("enabled").is_some_and(|enabled| *enabled != Value::Bool(false));
    serde_json::from_value(Value::Object(all)).unwrap_or_else(|error| {
        warnings.push(format!("`sandbox` in the settings cannot be read: {error}; the strictest holds until it is corrected"));
        SandboxSettings { enabled, fail_if_unavailable: enabled, ..SandboxSettings::default() }
    })
}

/// The folder that `/` in a file's path patterns means: the one that holds `.ostler` or
/// `.claude` for a project's file, the file's own for the user's.
fn root_of(file: &AbsPath, tier: Tier) -> AbsPath {
    let folder = file.parent().unwrap_or_else(AbsPath::root);
    match tier {
        Tier::Project | Tier::Local => folder.parent().unwrap_or(folder),
        Tier::User | Tier::Flag | Tier::Managed => folder,
    }
}

fn behavior_of(stored: ostler_store::Behavior) -> Behavior {
    match stored {
        ostler_store::Behavior::Allow => Behavior::Allow,
        ostler_store::Behavior::Ask => Behavior::Ask,
        ostler_store::Behavior::Deny => Behavior::Deny,
    }
}

impl Loaded {
    /// Whether a session may begin at all.
    ///
    /// # Errors
    /// `settings`: the machine's policy, or what the command line adds to it, cannot be read.
    pub(crate) fn check_policy(&self) -> Result<(), RpcError> {
        match &self.found.refusal {
            None => Ok(()),
            Some(problem) => Err(RpcError::new(ErrorKind::Settings, problem.to_string())
                .hint("mend the file, or ask who looks after this machine")),
        }
    }

    /// Whether a session may be in a mode.
    ///
    /// # Errors
    /// `managed`: the switch that forbids it, and its file.
    pub(crate) fn check_mode(&self, mode: Mode) -> Result<(), RpcError> {
        check_mode(&self.found, mode)
    }
}

fn check_mode(found: &Settings, mode: Mode) -> Result<(), RpcError> {
    let restrictions = found.restrictions();
    let key = match mode {
        Mode::BypassPermissions if restrictions.no_bypass => "disableBypassPermissionsMode",
        Mode::Auto if restrictions.no_auto => "disableAutoMode",
        _ => return Ok(()),
    };
    let key = format!("permissions.{key}");
    let origin = found.origin(&key).first().map(|origin| origin.file.display().to_string());
    let origin = origin.unwrap_or_default();
    let mode = mode.name();
    Err(RpcError::new(
        ErrorKind::Managed,
        format!("the mode `{mode}` is disabled: `{key}` in `{origin}`"),
    )
    .hint("choose another mode"))
}
