//! The judge through one door: a call in words, a verdict out.

mod corpus;
mod git;
mod limits;
mod links;
mod order;
mod property;
mod unseen;

use std::collections::{BTreeSet, HashMap};

use ostler_protocol::{Access, Mode};
use ostler_stdx::AbsPath;
use serde_json::{Map, Value};

use super::{Call, Explanation, Judgement, Verdict, explain, judge};
use crate::{Behavior, Facts, Repository, Resolved, RuleSource, Rules, glob_fits, look_ups};

pub(super) fn abs(path: &str) -> AbsPath {
    AbsPath::new(path).unwrap()
}

/// A call being put together. The disk: `/p` is the project, `/home/u` the home, `/x` an
/// extra folder, and `links` lead elsewhere; every other path leads to itself. No repository
/// runs anything but those of `repositories`, the nearest last. Globs match `files` and links.
pub(super) struct Case {
    tool: &'static str,
    args: Map<String, Value>,
    accesses: Vec<Access>,
    mode: Mode,
    rules: Rules,
    links: HashMap<AbsPath, AbsPath>,
    repositories: Vec<(AbsPath, Repository)>,
    files: Vec<AbsPath>,
    too_much: bool,
    can_ask: bool,
}

impl Case {
    pub(super) fn new(tool: &'static str, accesses: Vec<Access>) -> Self {
        Self {
            tool,
            args: Map::new(),
            accesses,
            mode: Mode::Default,
            rules: Rules::default(),
            links: HashMap::new(),
            repositories: Vec::new(),
            files: Vec::new(),
            too_much: false,
            can_ask: true,
        }
    }

    pub(super) fn bash(command: &str) -> Self {
        Self::new("Bash", vec![Access::Shell { command: command.into(), cwd: abs("/p") }])
    }

    pub(super) fn read(path: &str) -> Self {
        Self::new("Read", vec![Access::Read { path: abs(path) }])
    }

    pub(super) fn edit(path: &str) -> Self {
        Self::new("Edit", vec![Access::Write { path: abs(path) }])
    }

    pub(super) fn grep(root: &str) -> Self {
        Self::new("Grep", vec![Access::Search { root: abs(root) }])
    }

    pub(super) fn fetch(url: &str, host: &str) -> Self {
        Self::new("WebFetch", vec![Access::Network { url: url.into(), host: host.into() }])
    }

    pub(super) fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    pub(super) fn arg(mut self, key: &str, value: &str) -> Self {
        self.args.insert(key.into(), value.into());
        self
    }

    pub(super) fn rule(mut self, behavior: Behavior, text: &str) -> Self {
        self.rules.add(behavior, text, RuleSource::User).unwrap();
        self
    }

    pub(super) fn allow(self, text: &str) -> Self {
        self.rule(Behavior::Allow, text)
    }

    pub(super) fn ask(self, text: &str) -> Self {
        self.rule(Behavior::Ask, text)
    }

    pub(super) fn deny(self, text: &str) -> Self {
        self.rule(Behavior::Deny, text)
    }

    pub(super) fn link(mut self, from: &str, to: &str) -> Self {
        self.links.insert(abs(from), abs(to));
        self
    }

    pub(super) fn files(mut self, paths: &[&str]) -> Self {
        self.files.extend(paths.iter().map(|path| abs(path)));
        self
    }

    /// The disk holds more than is looked through.
    pub(super) fn too_much(mut self) -> Self {
        self.too_much = true;
        self
    }

    /// A repository at a folder, with the text of its configuration.
    pub(super) fn repository(mut self, at: &str, config: &str) -> Self {
        let repository = Repository {
            root: Some(abs(at)),
            settings: crate::git_settings(config).unwrap(),
            governed_by: vec![abs(at).join(".git"), abs(at).join("hooks")],
            ..Repository::default()
        };
        self.repositories.push((abs(at), repository));
        self
    }

    pub(super) fn rule_from(mut self, source: RuleSource, text: &str) -> Self {
        self.rules.add(Behavior::Allow, text, source).unwrap();
        self
    }

    pub(super) fn alone(mut self) -> Self {
        self.can_ask = false;
        self
    }

    pub(super) fn rules(&mut self) -> &mut Rules {
        &mut self.rules
    }

    fn facts(&self) -> Facts {
        let mut facts = Facts::new(abs("/p"), abs("/home/u"));
        facts.extra_dirs.push(abs("/x"));
        let found = look_ups(&self.accesses, &facts.home);
        for folder in found.repositories {
            let near = self.repositories.iter().rev().find(|(at, _)| folder.is_within(at));
            facts
                .repositories
                .insert(folder, near.map(|(_, found)| found.clone()).unwrap_or_default());
        }
        let mut paths = found.paths;
        let there: BTreeSet<AbsPath> = (self.files.iter().chain(self.links.keys()))
            .flat_map(|path| path.ancestors().map(|path| AbsPath::new(path).unwrap()))
            .collect();
        let below = |base: &AbsPath| -> Vec<AbsPath> {
            there.iter().filter(|path| path.is_within(base)).cloned().collect()
        };
        let mut walks = found.walks;
        for glob in found.globs {
            let mut matches = below(&glob.base);
            matches.retain(|path| {
                let rest = path.strip_prefix(glob.base.as_path()).unwrap();
                let names: Vec<_> = rest.iter().map(|name| name.to_string_lossy()).collect();
                names.len() == glob.parts.len()
                    && names.iter().zip(&glob.parts).all(|(name, part)| glob_fits(part, name))
            });
            paths.extend(matches.iter().cloned());
            walks.extend(matches.iter().filter(|_| glob.follows).cloned());
            facts.globs.insert(glob, (!self.too_much).then_some(matches));
        }
        for walk in walks {
            let links: Vec<AbsPath> =
                below(&walk).into_iter().filter(|path| self.links.contains_key(path)).collect();
            paths.extend(links.iter().cloned());
            facts.walks.insert(walk, (!self.too_much).then_some(links));
        }
        paths.extend([abs("/p"), abs("/x"), abs("/home/u")]);
        for path in paths {
            let real = self.follow(&path);
            // Names without a dot, and dot folders, are folders.
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_dir = !name.trim_start_matches('.').contains('.') && name != ".env";
            facts.resolved.insert(path, Resolved { real, exists: true, is_dir });
        }
        facts
    }

    fn follow(&self, path: &AbsPath) -> AbsPath {
        for (from, to) in &self.links {
            if let Ok(rest) = path.strip_prefix(from.as_path()) {
                return to.join(rest);
            }
        }
        path.clone()
    }

    fn call<'a>(&'a self, facts: &'a Facts) -> Call<'a> {
        Call {
            tool: self.tool,
            args: &self.args,
            accesses: &self.accesses,
            mode: self.mode,
            rules: &self.rules,
            facts,
            can_ask: self.can_ask,
        }
    }

    pub(super) fn judge(&self) -> Judgement {
        judge(&self.call(&self.facts()))
    }

    pub(super) fn explain(&self) -> Explanation {
        explain(&self.call(&self.facts()))
    }

    pub(super) fn verdict(&self) -> Verdict {
        self.judge().verdict
    }
}

/// Collects wrong verdicts, so that one run shows them all.
#[track_caller]
pub(super) fn expect_all(cases: impl IntoIterator<Item = (String, Judgement, Verdict)>) {
    let wrong: Vec<String> = cases
        .into_iter()
        .filter(|(_, judgement, want)| judgement.verdict != *want)
        .map(|(name, judgement, want)| {
            format!(
                "{name}\n    want {want:?}, got {:?}: {}",
                judgement.verdict, judgement.reason.text
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
