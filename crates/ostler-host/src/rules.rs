//! The rules of one session: those of settings files and the command line, and the grants
//! that live as long as the session does in this process.

#[cfg(test)]
mod tests;

use std::{
    collections::HashSet,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use ostler_permission::{
    Behavior, Call, Destination, Facts, Judgement, PermissionUpdate, RuleSource, RuleValue, Rules,
    Step, Verdict, explain, judge,
};
use ostler_protocol::{Access, ErrorKind, Mode, RpcError, session::PermissionDecision};
use ostler_stdx::AbsPath;
use ostler_store::{RuleFile, SettingsChange, Store};
use serde_json::{Map, Value};

use crate::{
    facts::{Disk, resolve},
    host::Host,
    live::{SessionSpec, storage_error},
    nested,
    settings::{Loaded, Look, Place, Watch},
};

/// Approved paths that are remembered for the last-moment check.
const APPROVED_CAP: usize = 10_000;

/// Rules and facts of a session.
#[derive(Debug)]
pub(crate) struct SessionRules {
    rules: RwLock<Rules>,
    extra_dirs: RwLock<Vec<AbsPath>>,
    /// Rules of the command line.
    given: Rules,
    /// How many Ostlers are above this one.
    depth: u32,
    project: AbsPath,
    home: AbsPath,
    store: Store,
    disk: Disk,
    /// The settings files that rules and folders come from.
    watch: Watch,
    /// Of the further folders, those of settings files.
    file_dirs: Mutex<Vec<AbsPath>>,
    /// Whether the settings changed since somebody asked.
    changed: AtomicBool,
    /// Real paths of calls that were allowed: at the last moment they may be used though
    /// they lie outside.
    approved: Mutex<HashSet<AbsPath>>,
}

fn stored_behavior(behavior: Behavior) -> ostler_store::Behavior {
    match behavior {
        Behavior::Allow => ostler_store::Behavior::Allow,
        Behavior::Ask => ostler_store::Behavior::Ask,
        Behavior::Deny => ostler_store::Behavior::Deny,
    }
}

impl SessionRules {
    pub(crate) fn new(
        host: &Host,
        spec: &SessionSpec,
        loaded: &mut Loaded,
    ) -> Result<Self, RpcError> {
        let mut given = Rules::default();
        for (behavior, text) in &spec.rules {
            // Left out, a rule that forbids would forbid nothing.
            given.add(*behavior, text, RuleSource::CliArg).map_err(|error| {
                RpcError::new(ErrorKind::Usage, format!("permission rule `{text}`: {error}"))
            })?;
        }
        let watch = Watch::new(Place::of(host, spec), host.clock(), loaded);
        let rules = Self {
            rules: RwLock::default(),
            extra_dirs: RwLock::new(spec.extra_dirs.clone()),
            given,
            depth: host.env().depth(),
            project: spec.cwd.clone(),
            home: host.env().home.clone(),
            store: host.store().clone(),
            disk: Disk::default(),
            watch,
            file_dirs: Mutex::default(),
            changed: AtomicBool::new(false),
            approved: Mutex::new(HashSet::new()),
        };
        rules.take_files(std::mem::take(&mut loaded.rules), std::mem::take(&mut loaded.extra_dirs));
        Ok(rules)
    }

    /// Puts the rules and folders of settings files in the place of those before; what the
    /// command line and this session gave stays.
    fn take_files(&self, files: Rules, dirs: Vec<AbsPath>) {
        let policy_allows_only = self.watch.restrictions().policy_allows_only;
        {
            let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
            for source in [
                RuleSource::Managed,
                RuleSource::CliArg,
                RuleSource::Local,
                RuleSource::Project,
                RuleSource::User,
            ] {
                rules.clear_source(source);
            }
            rules.merge(self.given.clone());
            if policy_allows_only {
                rules.clear(Behavior::Allow, RuleSource::CliArg);
                rules.clear(Behavior::Allow, RuleSource::Session);
            }
            // Switches that are off now are off; `merge` would keep them.
            rules.set_limits(ostler_permission::Limits::default());
            rules.merge(files);
        }
        let mut extra = self.extra_dirs.write().unwrap_or_else(PoisonError::into_inner);
        let mut held = self.file_dirs.lock().unwrap_or_else(PoisonError::into_inner);
        extra.retain(|dir| !held.contains(dir));
        // Those that somebody gave besides are not the files' to take away.
        let new: Vec<_> = dirs.into_iter().filter(|dir| !extra.contains(dir)).collect();
        extra.extend(new.iter().cloned());
        *held = new;
    }

    /// Follows the settings files, if one changed; gives what is to be said about that.
    pub(crate) fn refresh(&self, look: Look) -> Vec<String> {
        match self.watch.changed(look) {
            None => Vec::new(),
            Some(loaded) => {
                self.changed.store(true, Ordering::Relaxed);
                self.take_files(loaded.rules, loaded.extra_dirs);
                loaded.warnings
            }
        }
    }

    /// The settings, if they changed since this was asked last.
    pub(crate) fn changed(&self) -> Option<ostler_store::Settings> {
        self.changed.swap(false, Ordering::Relaxed).then(|| self.watch.settings())
    }

    /// Takes settings of a host while the session runs.
    ///
    /// # Errors
    /// What is of a wrong type.
    pub(crate) fn apply_settings(&self, keys: &Map<String, Value>) -> Result<Loaded, RpcError> {
        let mut loaded = self.watch.apply(keys)?;
        self.changed.store(true, Ordering::Relaxed);
        self.take_files(std::mem::take(&mut loaded.rules), loaded.extra_dirs.clone());
        Ok(loaded)
    }

    /// Whether of all hooks only those of the machine's policy run.
    pub(crate) fn only_policy_hooks(&self) -> bool {
        self.watch.only_policy_hooks()
    }

    /// Whether the session may be in a mode.
    ///
    /// # Errors
    /// `managed`: what forbids it.
    pub(crate) fn check_mode(&self, mode: Mode) -> Result<(), RpcError> {
        nested::check_mode(self.depth, mode)?;
        self.watch.check_mode(mode)
    }

    /// The mode that calls are judged in: one that the settings forbid by now is the
    /// default, whoever chose it.
    pub(crate) fn mode_in_force(&self, mode: Mode) -> Mode {
        if self.check_mode(mode).is_err() { Mode::Default } else { mode }
    }

    /// Judges a call: gathers the facts, then asks the judge.
    pub(crate) fn judge(
        &self,
        tool: &str,
        args: &Map<String, Value>,
        accesses: &[Access],
        mode: Mode,
        can_ask: bool,
    ) -> Judgement {
        let facts = self.facts(accesses);
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        judge(&Call { tool, args, accesses, mode, rules: &rules, facts: &facts, can_ask })
    }

    /// Whether a call fits a permission rule, in whole or in part.
    pub(crate) fn fits(
        &self,
        rule: &str,
        tool: &str,
        args: &Map<String, Value>,
        accesses: &[Access],
    ) -> bool {
        let mut only = Rules::default();
        if only.add(Behavior::Ask, rule, RuleSource::Session).is_err() {
            return false;
        }
        let (rules, facts) = (&only, &self.facts(accesses));
        let mode = Mode::BypassPermissions;
        judge(&Call { tool, args, accesses, mode, rules, facts, can_ask: true })
            .reason
            .rule
            .is_some()
    }

    /// How each part of a call is judged, with somebody there to ask.
    pub(crate) fn explain(
        &self,
        tool: &str,
        args: &Map<String, Value>,
        accesses: &[Access],
        mode: Mode,
    ) -> Vec<Step> {
        let facts = self.facts(accesses);
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        let facts = &facts;
        explain(&Call { tool, args, accesses, mode, rules: &rules, facts, can_ask: true }).steps
    }

    /// Looks at the rules in force.
    pub(crate) fn with_rules<T>(&self, look: impl FnOnce(&Rules) -> T) -> T {
        look(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What deny rules keep from being read: paths, which a sandbox hides as they are, and
    /// globs, for which it looks before each command.
    pub(crate) fn denied_reads(&self) -> (Vec<AbsPath>, Vec<String>) {
        let everywhere = Access::Search { root: AbsPath::root() };
        let judged = self.judge("Grep", &Map::new(), &[everywhere], Mode::Default, true);
        let mut paths = Vec::new();
        let mut globs = Vec::new();
        for glob in judged.excluded {
            let plain = glob.trim_end_matches("/**");
            match AbsPath::new(plain) {
                Ok(path) if !plain.contains(['*', '?', '[', '{']) => paths.push(path),
                _ => globs.push(glob),
            }
        }
        (paths, globs)
    }

    fn facts(&self, accesses: &[Access]) -> Facts {
        let mut facts = Facts::new(self.project.clone(), self.home.clone());
        facts.extra_dirs = self.extra_dirs.read().unwrap_or_else(PoisonError::into_inner).clone();
        self.disk.gather(accesses, facts)
    }

    /// Notes what an allowed call may touch.
    pub(crate) fn approve(&self, accesses: &[Access]) {
        let mut approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        for access in accesses {
            let path = match access {
                Access::Read { path } | Access::Write { path } => path,
                Access::Search { root } => root,
                _ => continue,
            };
            if approved.len() >= APPROVED_CAP {
                approved.clear();
            }
            approved.insert(resolve(path).real);
        }
    }

    /// The check that tools make when they hold a file open: what was judged is what is
    /// used, even if a link was put in its place since.
    pub(crate) fn last_moment(self: &Arc<Self>) -> ostler_builtins::Gate {
        let rules = Arc::clone(self);
        ostler_builtins::Gate::new(move |access| rules.check_real(access))
    }

    fn check_real(&self, access: &Access) -> Result<(), String> {
        let (tool, path) = match access {
            Access::Read { path } | Access::Search { root: path } => ("Read", path),
            Access::Write { path } => ("Edit", path),
            _ => return Ok(()),
        };
        let inside = {
            let dirs = self.extra_dirs.read().unwrap_or_else(PoisonError::into_inner);
            let project = resolve(&self.project).real;
            path.is_within(&project) || dirs.iter().any(|dir| path.is_within(&resolve(dir).real))
        };
        let approved = || {
            let approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
            approved.iter().any(|real| path.is_within(real))
        };
        if !inside && !approved() {
            return Err(format!(
                "`{path}` is not where the call pointed when it was allowed; nothing was done"
            ));
        }
        let has_deny = {
            let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
            rules.of(Behavior::Deny).next().is_some()
        };
        if !has_deny {
            return Ok(());
        }
        let judgement = self.judge(
            tool,
            &Map::new(),
            std::slice::from_ref(access),
            Mode::BypassPermissions,
            true,
        );
        if judgement.verdict == Verdict::Deny { Err(judgement.reason.text) } else { Ok(()) }
    }

    /// Checks a rule that a person edited.
    pub(crate) fn check_rule(text: &str) -> Result<(), String> {
        Rules::default()
            .add(Behavior::Allow, text, RuleSource::Session)
            .map_err(|error| error.to_string())
    }

    /// Stores what a person decided beyond the one call.
    pub(crate) fn learn(&self, decision: PermissionDecision, rule: &str) -> Result<(), RpcError> {
        let file = match decision {
            PermissionDecision::AllowOnce | PermissionDecision::Deny => return Ok(()),
            PermissionDecision::AllowSession => None,
            PermissionDecision::AllowProject => Some(RuleFile::Project(self.project.clone())),
            PermissionDecision::AllowAlways => Some(RuleFile::User),
        };
        self.add(Behavior::Allow, rule, file)
    }

    /// Whether anybody but the policy may allow something.
    fn may_allow(&self, behavior: Behavior) -> Result<(), RpcError> {
        if behavior != Behavior::Allow || !self.watch.restrictions().policy_allows_only {
            return Ok(());
        }
        Err(RpcError::new(
            ErrorKind::Managed,
            "the policy of this machine lets no rule allow but its own (`allowManagedPermissionRulesOnly`)",
        )
        .hint("allow the one call only"))
    }

    fn add(&self, behavior: Behavior, rule: &str, file: Option<RuleFile>) -> Result<(), RpcError> {
        self.may_allow(behavior)?;
        Self::check_rule(rule).map_err(|error| RpcError::new(ErrorKind::Usage, error))?;
        let source = match file {
            Some(file) => {
                let rules = [rule.to_owned()];
                self.write(&file, SettingsChange::AddRules(stored_behavior(behavior), &rules))?;
                // Where it stands in a project whose content waits, it holds for the session.
                let held = self.rules.read().unwrap_or_else(PoisonError::into_inner);
                if held.of(behavior).any(|held| held.text == rule) {
                    return Ok(());
                }
                RuleSource::Session
            }
            None => RuleSource::Session,
        };
        let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        rules
            .add(behavior, rule, source)
            .map_err(|error| RpcError::new(ErrorKind::Usage, error.to_string()))
    }

    /// Changes a settings file and follows it.
    fn write(&self, file: &RuleFile, change: SettingsChange<'_>) -> Result<(), RpcError> {
        let changed =
            self.store.change_settings(file, change).map_err(|error| storage_error(&error))?;
        self.refresh(Look::Now);
        match changed.twin {
            None => Ok(()),
            Some(twin) => {
                let twin = twin.display();
                let text = format!("`{twin}` still holds it, and is not Ostler's to write");
                Err(RpcError::new(ErrorKind::Settings, text).hint("take it out there yourself"))
            }
        }
    }

    fn file_of(&self, destination: Destination) -> Option<RuleFile> {
        match destination {
            Destination::UserSettings => Some(RuleFile::User),
            Destination::ProjectSettings => Some(RuleFile::Project(self.project.clone())),
            Destination::LocalSettings => Some(RuleFile::Local(self.project.clone())),
            Destination::Session | Destination::CliArg => None,
        }
    }

    /// Applies an update of a host where it says that it belongs. Gives the mode that it asks
    /// for, if any.
    ///
    /// # Errors
    /// The file that could not be written, or the rule that makes no sense.
    pub(crate) fn apply(&self, update: &PermissionUpdate) -> Result<Option<Mode>, RpcError> {
        match update {
            PermissionUpdate::AddRules { rules, behavior, destination } => {
                for rule in rules {
                    self.add(*behavior, &rule.to_text(), self.file_of(*destination))?;
                }
            }
            PermissionUpdate::ReplaceRules { rules, behavior, destination } => {
                self.replace(*behavior, rules, *destination)?;
            }
            PermissionUpdate::RemoveRules { rules, behavior, destination } => {
                let texts: Vec<String> = rules.iter().map(RuleValue::to_text).collect();
                match self.file_of(*destination) {
                    Some(file) => {
                        let behavior = stored_behavior(*behavior);
                        self.write(&file, SettingsChange::RemoveRules(behavior, &texts))?;
                    }
                    None => {
                        let mut held = self.rules.write().unwrap_or_else(PoisonError::into_inner);
                        for text in &texts {
                            held.remove(*behavior, text, RuleSource::Session);
                        }
                    }
                }
            }
            PermissionUpdate::SetMode { mode, destination } => {
                return self.set_mode(mode, *destination);
            }
            PermissionUpdate::AddDirectories { directories, destination } => {
                if let Some(file) = self.file_of(*destination) {
                    self.write(&file, SettingsChange::AddDirectories(directories))?;
                }
                let mut dirs = self.extra_dirs.write().unwrap_or_else(PoisonError::into_inner);
                for dir in directories {
                    let dir = self.project.join(Path::new(dir));
                    if !dirs.contains(&dir) {
                        dirs.push(dir);
                    }
                }
            }
            PermissionUpdate::RemoveDirectories { directories, destination } => {
                if let Some(file) = self.file_of(*destination) {
                    self.write(&file, SettingsChange::RemoveDirectories(directories))?;
                }
                let gone: Vec<AbsPath> =
                    directories.iter().map(|dir| self.project.join(Path::new(dir))).collect();
                let mut dirs = self.extra_dirs.write().unwrap_or_else(PoisonError::into_inner);
                dirs.retain(|dir| !gone.contains(dir));
            }
        }
        Ok(None)
    }

    fn replace(
        &self,
        behavior: Behavior,
        rules: &[RuleValue],
        destination: Destination,
    ) -> Result<(), RpcError> {
        let texts: Vec<String> = rules.iter().map(RuleValue::to_text).collect();
        for text in &texts {
            Self::check_rule(text).map_err(|error| RpcError::new(ErrorKind::Usage, error))?;
        }
        if let Some(file) = self.file_of(destination) {
            self.may_allow(behavior)?;
            let behavior = stored_behavior(behavior);
            return self.write(&file, SettingsChange::ReplaceRules(behavior, &texts));
        }
        {
            let mut held = self.rules.write().unwrap_or_else(PoisonError::into_inner);
            held.clear(behavior, RuleSource::Session);
        }
        texts.iter().try_for_each(|text| self.add(behavior, text, None))
    }

    /// A mode in a file is that of sessions to come; it counts here, too.
    fn set_mode(&self, mode: &str, destination: Destination) -> Result<Option<Mode>, RpcError> {
        let Some(exact) = Mode::parse(mode) else {
            return Err(RpcError::new(ErrorKind::Usage, format!("there is no mode `{mode}`")));
        };
        self.check_mode(exact)?;
        if let Some(file) = self.file_of(destination) {
            let loosens = matches!(exact, Mode::BypassPermissions | Mode::Auto | Mode::AcceptEdits);
            if loosens && matches!(file, RuleFile::Project(_)) {
                let text = format!("`{mode}` does not count in a project's settings");
                return Err(RpcError::new(ErrorKind::Usage, text)
                    .hint("choose the user's settings, or the session"));
            }
            self.write(&file, SettingsChange::SetMode(exact.name()))?;
        }
        Ok(Some(exact))
    }
}
