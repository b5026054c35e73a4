//! What the judge says of a script in the tree of the fixture, with facts taken from the disk.

use std::fs;

use ostler_permission::{
    Behavior, Call, Facts, Resolved, RuleSource, Rules, Verdict, judge, paths_to_resolve,
};
use ostler_protocol::{Access, Mode};
use ostler_stdx::AbsPath;

use crate::fixture::{HOME, PROJECT};

/// Links that one path may go through.
const MAX_LINKS: usize = 40;

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

/// Judges a script that is run in the project.
pub(crate) fn of(script: &str, scene: Scene, look: &dyn Fn(&AbsPath) -> Resolved) -> Verdict {
    let project = path(PROJECT);
    let home = path(HOME);
    let mut facts = Facts::new(project.clone(), home.clone());
    let accesses = [Access::Shell { command: script.to_owned(), cwd: project.clone() }];
    let mut paths = paths_to_resolve(&accesses, &home);
    paths.extend([project, home]);
    for path in paths {
        let resolved = look(&path);
        facts.resolved.insert(path, resolved);
    }
    judge(&Call {
        tool: "Bash",
        args: &serde_json::Map::new(),
        accesses: &accesses,
        mode: Mode::Default,
        rules: &scene.rules(),
        facts: &facts,
        can_ask: true,
    })
    .verdict
}

fn path(text: &str) -> AbsPath {
    AbsPath::new(text).unwrap_or_else(|_| AbsPath::root())
}

/// Where a path leads on this disk, as the host finds out before it asks the judge.
pub(crate) fn on_disk(path: &AbsPath) -> Resolved {
    follow(path, MAX_LINKS)
}

/// Where a path leads on a disk that has everything and no links.
pub(crate) fn on_paper(path: &AbsPath) -> Resolved {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Resolved { real: path.clone(), exists: true, is_dir: !name.contains('.') }
}

fn follow(path: &AbsPath, links_left: usize) -> Resolved {
    if let Ok(real) = fs::canonicalize(path.as_path()) {
        let is_dir = real.is_dir();
        let real = AbsPath::new(real).unwrap_or_else(|_| path.clone());
        return Resolved { real, exists: true, is_dir };
    }
    let gone = |real: AbsPath| Resolved { real, exists: false, is_dir: false };
    let (Some(parent), Some(name)) = (path.parent(), path.as_path().file_name()) else {
        return gone(path.clone());
    };
    let parent = follow(&parent, links_left).real;
    match fs::read_link(path.as_path()) {
        Ok(target) => match links_left.checked_sub(1) {
            Some(left) => gone(follow(&parent.join(target), left).real),
            None => gone(AbsPath::root()),
        },
        Err(_) => gone(parent.join(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_deny_what_they_say() {
        let verdict = |script, scene| of(script, scene, &on_paper);
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
