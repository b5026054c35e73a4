//! The environment, read once: variables, home folders, working folder.
//!
//! Nothing else of Ostler reads the process environment, and no `.env` file is read.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

use ostler_stdx::AbsPath;
use ostler_store::Roots;

/// What the process was started with.
#[derive(Debug, Clone)]
pub struct Environment {
    vars: BTreeMap<OsString, OsString>,
    /// The account's home folder.
    pub home: AbsPath,
    /// The folder that the process was started in.
    pub cwd: AbsPath,
    /// `$OSTLER_HOME` and `$CLAUDE_CONFIG_DIR`, or their defaults.
    pub roots: Roots,
}

/// How long a process without further input waits for background commands, unless the
/// variable [`BACKGROUND_WAIT`] says otherwise. The reference waits for ever, which hangs
/// hosts when a command never ends (agent-sdk.md 9).
const BACKGROUND_WAIT_MS: u64 = 60_000;
const BACKGROUND_WAIT: &str = "OSTLER_BACKGROUND_WAIT_MS";

impl Environment {
    /// How long background commands are waited for when nothing else goes on.
    #[must_use]
    pub fn background_wait(&self) -> std::time::Duration {
        let given = self.var(BACKGROUND_WAIT).and_then(|ms| ms.parse().ok());
        std::time::Duration::from_millis(given.unwrap_or(BACKGROUND_WAIT_MS))
    }

    /// How many Ostlers are above this one: 0 unless a command of one started it.
    #[must_use]
    pub fn depth(&self) -> u32 {
        // What cannot be read was not written by us, and is no reason to be wider.
        self.var(crate::nested::DEPTH).map_or(0, |depth| depth.parse().unwrap_or(1).max(1))
    }

    /// Reads the environment of this process.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads environment and working folder"
    )]
    pub fn of_process() -> Self {
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        Self::new(std::env::vars_os(), cwd)
    }

    /// An environment of these variables.
    pub fn new(vars: impl IntoIterator<Item = (OsString, OsString)>, cwd: PathBuf) -> Self {
        let vars: BTreeMap<_, _> = vars.into_iter().collect();
        let abs = |path: PathBuf| AbsPath::new(path).ok();
        let var =
            |name: &str| vars.get(std::ffi::OsStr::new(name)).filter(|value| !value.is_empty());
        let cwd = abs(cwd).unwrap_or_else(AbsPath::root);
        let home = var("HOME")
            .and_then(|home| abs(home.into()))
            .or_else(account_home)
            .unwrap_or_else(AbsPath::root);
        let root = |name: &str, default: &str| {
            var(name).map_or_else(|| home.join(default), |path| cwd.join(PathBuf::from(path)))
        };
        let roots = Roots {
            home: root("OSTLER_HOME", ".ostler"),
            claude: root("CLAUDE_CONFIG_DIR", ".claude"),
        };
        Self { vars, home, cwd, roots }
    }

    /// A variable, if it is set, not empty and text.
    #[must_use]
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(std::ffi::OsStr::new(name))?.to_str().filter(|value| !value.is_empty())
    }

    /// All variables.
    pub fn vars(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        self.vars.iter().map(|(name, value)| (name.clone(), value.clone()))
    }
}

/// The home folder that the account database gives, for hosts that clear `HOME`.
fn account_home() -> Option<AbsPath> {
    let user = nix::unistd::User::from_uid(nix::unistd::Uid::current()).ok()??;
    AbsPath::new(user.dir).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(vars: &[(&str, &str)]) -> Environment {
        Environment::new(vars.iter().map(|(k, v)| ((*k).into(), (*v).into())), "/start".into())
    }

    #[test]
    fn homes_follow_their_variables_and_default_below_home() {
        let plain = env(&[("HOME", "/h")]);
        assert_eq!(plain.roots.home.to_text(), "/h/.ostler");
        assert_eq!(plain.roots.claude.to_text(), "/h/.claude");
        let set = env(&[("HOME", "/h"), ("OSTLER_HOME", "rel"), ("CLAUDE_CONFIG_DIR", "/c")]);
        assert_eq!(set.roots.home.to_text(), "/start/rel");
        assert_eq!(set.roots.claude.to_text(), "/c");
    }

    #[test]
    fn an_empty_variable_counts_as_unset() {
        assert_eq!(env(&[("X", "")]).var("X"), None);
    }
}
