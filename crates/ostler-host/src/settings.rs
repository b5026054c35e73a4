//! Reads the settings that hold for a session and hands their parts on in the types of
//! whoever uses them. Decides nothing itself: merging and trust are the store's.

use std::path::Path;

use ostler_permission::{Behavior, RuleSource, Rules};
use ostler_protocol::Mode;
use ostler_sandbox::SandboxSettings;
use ostler_stdx::AbsPath;
use ostler_store::{MANAGED, Sources, Tier, Trusting};
use serde_json::{Map, Value};

use crate::{host::Host, live::SessionSpec};

/// What settings say for a session.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) rules: Rules,
    pub(crate) default_mode: Option<Mode>,
    pub(crate) model: Option<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) extra_dirs: Vec<AbsPath>,
    pub(crate) sandbox: SandboxSettings,
}

/// Reads the settings that hold for a session.
pub(crate) fn load(host: &Host, spec: &SessionSpec) -> Loaded {
    let tiers: Vec<Tier> =
        [("user", Tier::User), ("project", Tier::Project), ("local", Tier::Local)]
            .into_iter()
            .filter(|(name, _)| {
                spec.setting_sources
                    .as_ref()
                    .is_none_or(|sources| sources.iter().any(|s| s == name))
            })
            .map(|(_, tier)| tier)
            .collect();
    let found = host.store().settings(
        &spec.cwd,
        Sources {
            managed: Path::new(MANAGED),
            tiers: &tiers,
            trust: if spec.trust { Trusting::ThisRun } else { Trusting::Stored },
            is_tracked: &crate::git::is_tracked,
        },
    );
    let mut loaded = Loaded::default();
    loaded.warnings.extend(found.withheld);
    loaded.warnings.extend(found.problems.iter().map(ToString::to_string));
    for rule in found.rules {
        let source = match rule.tier {
            Tier::Managed => RuleSource::Managed,
            Tier::Local => RuleSource::Local,
            Tier::Project => RuleSource::Project,
            Tier::User => RuleSource::User,
        };
        let behavior = behavior_of(rule.value.behavior);
        let added = match AbsPath::new(rule.file.clone()) {
            Ok(file) => {
                let root = root_of(&file, rule.tier);
                loaded.rules.add_from_file(behavior, &rule.value.text, source, file, root)
            }
            Err(_) => loaded.rules.add(behavior, &rule.value.text, source),
        };
        if let Err(error) = added {
            loaded.warnings.push(format!("`{}`: rule left out: {error}", rule.file.display()));
        }
    }
    loaded.sandbox = sandbox_settings(spec, found.sandbox, &mut loaded.warnings);
    loaded.default_mode = found.default_mode.map(|mode| mode.value);
    loaded.model = found.model.map(|model| model.value);
    loaded.extra_dirs = found
        .additional_directories
        .iter()
        .map(|dir| spec.cwd.join(Path::new(&dir.value)))
        .collect();
    loaded
}

/// The settings of the sandbox: what the command line says stands above the files. What
/// cannot be read is said, and is no way out of a sandbox that was asked for.
fn sandbox_settings(
    spec: &SessionSpec,
    files: Map<String, Value>,
    warnings: &mut Vec<String>,
) -> SandboxSettings {
    let mut all = spec.sandbox.clone().unwrap_or_default();
    ostler_store::merge_settings(&mut all, files);
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
        Tier::User | Tier::Managed => folder,
    }
}

fn behavior_of(stored: ostler_store::Behavior) -> Behavior {
    match stored {
        ostler_store::Behavior::Allow => Behavior::Allow,
        ostler_store::Behavior::Ask => Behavior::Ask,
        ostler_store::Behavior::Deny => Behavior::Deny,
    }
}
