//! What the judge says of a script in the tree of the fixture, with facts taken from the disk.

use ostler_permission::{
    Behavior, Call, Facts, Repository, Resolved, RuleSource, Rules, Verdict, judge, look_ups,
};
use ostler_protocol::{Access, Mode};
use ostler_stdx::AbsPath;

use crate::fixture::{HOME, PROJECT};

/// Which rules are in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scene {
    /// None.
    Bare,
    /// [`DENIED_PROGRAMS`] and [`DENIED_FILES`] are denied.
    Deny,
    /// The same, and every command is allowed that these do not stop.
    DenyRest,
}

/// Programs that [`Scene::Deny`] denies.
pub(crate) const DENIED_PROGRAMS: &[&str] = &["rm", "curl", "touch"];
/// Files of the project that it denies reading: each is a file, or a folder and what is in it.
pub(crate) const DENIED_FILES: &[&str] = &[".env", "secret"];

impl Scene {
    /// The scene of a script: mostly the bare one.
    pub(crate) fn of(index: u64) -> Self {
        match (index / 4) % 5 {
            3 => Self::Deny,
            4 => Self::DenyRest,
            _ => Self::Bare,
        }
    }

    /// Its name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bare => "no rules",
            Self::Deny => "deny rules",
            Self::DenyRest => "deny rules, all else allowed",
        }
    }

    fn rules(self) -> Rules {
        let mut rules = Rules::default();
        let mut add = |behavior, text: &str| {
            // A rule that is not understood is a mistake here, and shows: nothing is denied.
            let _ignored = rules.add(behavior, text, RuleSource::User);
        };
        if self != Self::Bare {
            for program in DENIED_PROGRAMS {
                add(Behavior::Deny, &format!("Bash({program}:*)"));
            }
            add(Behavior::Deny, "Read(.env)");
            add(Behavior::Deny, "Read(secret/**)");
        }
        if self == Self::DenyRest {
            add(Behavior::Allow, "Bash");
        }
        rules
    }
}

/// What the judge is told of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum World {
    /// What is there, found out as a session does it.
    Disk,
    /// A disk that has everything, no links, and nothing that chooses what a program runs.
    Paper,
}

/// Files with which a project chooses what a program runs or loads.
const CHOOSING: &[&str] = &[
    "rust-toolchain",
    "rust-toolchain.toml",
    "config",
    "config.toml",
    "go.mod",
    "go.work",
    "Gemfile.lock",
    "gems.locked",
    ".bundle",
    "ansible.cfg",
    ".erlang",
];

impl World {
    fn facts(self, accesses: &[Access]) -> Facts {
        let mut facts = Facts::new(path(PROJECT), path(HOME));
        if self == Self::Disk {
            return ostler_host::look_up(accesses, facts);
        }
        let found = look_ups(accesses, &facts.home);
        let repositories = found.repositories.into_iter();
        facts.repositories.extend(repositories.map(|folder| (folder, Repository::default())));
        facts.globs.extend(found.globs.into_iter().map(|glob| (glob, Some(Vec::new()))));
        facts.walks.extend(found.walks.into_iter().map(|path| (path, Some(Vec::new()))));
        for path in found.paths.into_iter().chain([path(PROJECT), path(HOME)]) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let exists = !CHOOSING.contains(&name.as_str());
            let is_dir = !name.contains('.');
            facts.resolved.insert(path.clone(), Resolved { real: path, exists, is_dir });
        }
        facts
    }
}

/// Judges a script that is run in the project.
pub(crate) fn of(script: &str, scene: Scene, world: World) -> Verdict {
    let cwd = path(PROJECT);
    let accesses = [Access::Shell { command: script.to_owned(), cwd }];
    judge(&Call {
        tool: "Bash",
        args: &serde_json::Map::new(),
        accesses: &accesses,
        mode: Mode::Default,
        rules: &scene.rules(),
        facts: &world.facts(&accesses),
        can_ask: true,
    })
    .verdict
}

fn path(text: &str) -> AbsPath {
    AbsPath::new(text).unwrap_or_else(|_| AbsPath::root())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_deny_what_they_say() {
        let verdict = |script, scene| of(script, scene, World::Paper);
        assert_eq!(verdict("rm README.md", Scene::Bare), Verdict::Ask);
        for scene in [Scene::Deny, Scene::DenyRest] {
            for script in ["rm README.md", "cat .env", "cat secret/plan.txt", "curl x"] {
                assert_eq!(verdict(script, scene), Verdict::Deny, "{script}");
            }
        }
        assert_eq!(verdict("make", Scene::DenyRest), Verdict::Allow);
        assert_eq!(verdict("make", Scene::Deny), Verdict::Ask);
    }
}
