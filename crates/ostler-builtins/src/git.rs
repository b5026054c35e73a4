//! The git program, for tools that need it. A repository may bring settings that make git
//! run programs: hooks, file system monitors, filters. None of them runs from here.

use std::{ffi::OsString, time::Duration};

use ostler_sandbox::Command;
use ostler_stdx::{AbsPath, Cancel};
use ostler_tool::ToolError;

use crate::{hands::Hands, plain::strip_controls};

/// How long one git command may take.
const TIMEOUT: Duration = Duration::from_secs(300);
/// Bytes of what git says that are told.
const SAID: usize = 2000;

/// Settings that take from a repository what would run programs.
const OFF: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.sshCommand=false",
    "core.pager=cat",
    "diff.external=",
    "submodule.recurse=false",
    "advice.detachedHead=false",
];

/// Variables that would lead git elsewhere than to the folder it runs in.
const LEADING: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
];

/// Git in one folder.
#[derive(Debug)]
pub(crate) struct Git<'a> {
    hands: &'a Hands,
    folder: AbsPath,
    cancel: Cancel,
    /// Filters that the repository itself defines, switched off.
    filters: Vec<String>,
}

/// What a command gave.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) ok: bool,
    pub(crate) out: String,
    pub(crate) error: String,
}

impl<'a> Git<'a> {
    /// Git in a folder, which must lie in a repository.
    pub(crate) async fn open(
        hands: &'a Hands,
        folder: &AbsPath,
        cancel: &Cancel,
    ) -> Result<Self, ToolError> {
        let mut git =
            Self { hands, folder: folder.clone(), cancel: cancel.clone(), filters: Vec::new() };
        git.ok(&["rev-parse", "--git-dir"]).await?;
        let args = ["config", "--show-scope", "--name-only", "-z", "--get-regexp", "^filter\\."];
        // Without a match it fails and says nothing.
        let listed = git.run(&args).await?.out;
        git.filters = filters(&listed);
        Ok(git)
    }

    /// The same repository from another of its folders.
    pub(crate) fn at(&self, folder: &AbsPath) -> Self {
        let (cancel, filters) = (self.cancel.clone(), self.filters.clone());
        Self { hands: self.hands, folder: folder.clone(), cancel, filters }
    }

    /// Runs a command.
    pub(crate) async fn run(&self, args: &[&str]) -> Result<Said, ToolError> {
        let mut env = self.hands.env.clone();
        for name in LEADING {
            env.remove(&OsString::from(*name));
        }
        let own = [
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("LC_ALL", "C"),
        ];
        env.extend(own.map(|(name, value)| (name.into(), value.into())));
        let off = OFF.iter().copied().chain(self.filters.iter().map(String::as_str));
        let command = Command::new("git", self.folder.clone())
            .args(off.flat_map(|setting| ["-c", setting]))
            .args(args)
            .env(env)
            .timeout(TIMEOUT);
        let exit = self.hands.supervisor.run(&command, &self.cancel, |_, _| {}).await;
        let exit = exit.map_err(|error| ToolError::Tell(format!("cannot run git: {error}")))?;
        if exit.cancelled {
            return Err(ToolError::Cancelled);
        }
        let error = strip_controls(&exit.stderr.to_text());
        Ok(Said {
            ok: exit.is_success(),
            out: exit.stdout.to_text(),
            error: error.trim().chars().take(SAID).collect(),
        })
    }

    /// Runs a command that must work; gives what it wrote without the last line break.
    pub(crate) async fn ok(&self, args: &[&str]) -> Result<String, ToolError> {
        let said = self.run(args).await?;
        if !said.ok {
            let name = args.first().copied().unwrap_or_default();
            return Err(ToolError::Tell(format!(
                "git {name} failed in `{}`: {}",
                self.folder, said.error
            )));
        }
        Ok(said.out.trim_end_matches('\n').to_owned())
    }
}

/// The settings that switch off the filters which the repository itself defines. Those of
/// the person stay; one that both define goes.
fn filters(listed: &str) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    let mut fields = listed.split('\0');
    while let (Some(scope), Some(key)) = (fields.next(), fields.next()) {
        let name = key.strip_prefix("filter.").and_then(|key| Some(key.rsplit_once('.')?.0));
        if let Some(name) = name
            && matches!(scope, "local" | "worktree")
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    let off = |name: &&str| {
        let ends = ["clean=", "smudge=", "process=", "required=false"];
        ends.map(|end| format!("filter.{name}.{end}"))
    };
    names.iter().flat_map(off).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_of_the_repository_are_switched_off() {
        let listed =
            "global\0filter.lfs.clean\0local\0filter.a.b.smudge\0local\0filter.a.b.clean\0";
        assert_eq!(
            filters(listed),
            [
                "filter.a.b.clean=",
                "filter.a.b.smudge=",
                "filter.a.b.process=",
                "filter.a.b.required=false"
            ]
        );
        assert!(filters("").is_empty());
    }
}
