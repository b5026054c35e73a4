//! EnterWorktree: goes on in a worktree of the project's repository, so that changes stay
//! apart. Runs git with nothing of the repository's own, and writes only below
//! `.ostler/worktrees` and in git's own files.

use ostler_protocol::Access;
use ostler_stdx::AbsPath;
use ostler_tool::{Change, Concurrency, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    args::absolute,
    disk::{Parents, Place},
    files::{ask, blocking, cannot},
    git::Git,
    hands::Hands,
    worktree::{Current, Entered, FOLDER, branch, is_name, listed},
};

/// The file by which git leaves the worktrees out.
const IGNORE: &str = ".gitignore";

/// Enters worktrees.
#[derive(Debug)]
pub(crate) struct EnterWorktree(pub(crate) Hands);

/// Arguments of EnterWorktree.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The name of a new worktree, or of one that was kept: letters, digits, `-`, `_`, `.`.
    #[serde(default)]
    name: Option<String>,
    /// The folder of a worktree of this repository that is there already.
    #[serde(default)]
    path: Option<String>,
}

/// What a call wants.
enum Wanted<'a> {
    Named(&'a str),
    There(AbsPath),
}

impl EnterWorktree {
    fn wanted<'a>(&self, args: &'a Args, cwd: &AbsPath) -> Result<Wanted<'a>, ToolError> {
        match (args.name.as_deref(), args.path.as_deref()) {
            (Some(name), None) if is_name(name) => Ok(Wanted::Named(name)),
            (Some(name), None) => Err(ToolError::Tell(format!(
                "`{name}` is not a name for a worktree: use letters, digits, `-`, `_` and `.`"
            ))),
            (None, Some(path)) => Ok(Wanted::There(absolute(path, cwd, self.0.home.as_ref()))),
            _ => Err(ToolError::Tell("name either `name` or `path`".to_owned())),
        }
    }
}

impl Tool for EnterWorktree {
    const NAME: &'static str = "EnterWorktree";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("enter_worktree.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Writer
    }

    fn access(&self, args: &Args, cwd: &AbsPath) -> Vec<Access> {
        match self.wanted(args, cwd) {
            Ok(Wanted::Named(name)) => {
                let path = cwd.join(FOLDER).join(name);
                let command = format!("git worktree add -b {} {FOLDER}/{name} HEAD", branch(name));
                let ignore = cwd.join(FOLDER).join(IGNORE);
                vec![
                    Access::Write { path },
                    Access::Write { path: ignore },
                    Access::Shell { command, cwd: cwd.clone() },
                ]
            }
            Ok(Wanted::There(path)) => vec![Access::Search { root: path }],
            // It will be refused.
            Err(_) => vec![Access::Unknown],
        }
    }

    fn title(&self, args: &Args) -> String {
        let which = args.name.as_deref().or(args.path.as_deref()).unwrap_or_default();
        format!("Work in worktree {which}")
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        if cx.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let wanted = self.wanted(&args, &cx.cwd)?;
        let current = cx.state.get::<Current>();
        if let Some(in_one) = current.or(&cx.cwd) {
            return Err(ToolError::Tell(format!(
                "the session works in worktree `{}` already: leave it with ExitWorktree first",
                in_one.path
            )));
        }
        let git = Git::open(&self.0, &cx.cwd, &cx.cancel).await?;
        let (path, branch, name) = match wanted {
            Wanted::Named(name) => {
                let (path, branch) = self.make(&git, name, &cx).await?;
                (path, Some(branch), Some(name.to_owned()))
            }
            Wanted::There(path) => {
                let (path, branch) = self.there(&git, &path, &cx).await?;
                (path, branch, None)
            }
        };
        // The same place in the repository, where the worktree has it.
        let prefix = git.ok(&["rev-parse", "--show-prefix"]).await?;
        let folder = Some(path.join(&prefix)).filter(|folder| folder.as_path().is_dir());
        let folder = folder.unwrap_or_else(|| path.clone());
        current.set(Some(Entered { path: path.clone(), original: cx.cwd.clone(), name }));
        let on = branch.as_ref().map(|branch| format!(" on branch `{branch}`")).unwrap_or_default();
        let message =
            format!("The session works in worktree `{path}`{on} now; paths start at `{folder}`.");
        let mut structured = json!({ "worktreePath": path.to_text(), "message": message });
        if let Some(branch) = branch {
            structured["worktreeBranch"] = json!(branch);
        }
        Ok(ToolOutput::text(message, structured).with_change(Change::Folder(Some(folder))))
    }
}

impl EnterWorktree {
    /// A worktree below the project, made if it is not there.
    async fn make(
        &self,
        git: &Git<'_>,
        name: &str,
        cx: &ToolCx,
    ) -> Result<(AbsPath, String), ToolError> {
        let path = cx.cwd.join(FOLDER).join(name);
        let (hands, project, wanted) = (self.0.clone(), cx.cwd.clone(), path.clone());
        let is_there = blocking(cx, move || prepare(&hands, &project, &wanted)).await?;
        let own = branch(name);
        if is_there {
            let known = self.known(git, &path).await?.ok_or_else(|| {
                ToolError::Tell(format!(
                    "`{path}` is there and is no worktree of this repository: choose another name"
                ))
            })?;
            return Ok((path, known.unwrap_or(own)));
        }
        let at = path.to_text();
        let head = format!("refs/heads/{own}");
        let kept = git.run(&["show-ref", "--verify", "--quiet", &head]).await?.ok;
        if kept {
            git.ok(&["worktree", "add", "--quiet", &at, &own]).await?;
        } else {
            git.ok(&["worktree", "add", "--quiet", "-b", &own, &at, "HEAD"]).await?;
        }
        Ok((path, own))
    }

    /// A worktree that is there already.
    async fn there(
        &self,
        git: &Git<'_>,
        path: &AbsPath,
        cx: &ToolCx,
    ) -> Result<(AbsPath, Option<String>), ToolError> {
        let asked = path.clone();
        let real = blocking(cx, move || {
            Place::resolve(&asked).map_err(|error| cannot("enter", &asked, &error))
        });
        let real = real.await?;
        ask(&self.0, &Access::Search { root: real.clone() })?;
        let branch = self.known(git, &real).await?.ok_or_else(|| {
            ToolError::Tell(format!(
                "`{path}` is no worktree of this repository: `git worktree list` shows all"
            ))
        })?;
        Ok((real, branch))
    }

    /// The branch of a worktree that git knows.
    async fn known(
        &self,
        git: &Git<'_>,
        path: &AbsPath,
    ) -> Result<Option<Option<String>>, ToolError> {
        let trees = listed(&git.ok(&["worktree", "list", "--porcelain", "-z"]).await?);
        let real = path.as_path().canonicalize().ok();
        let same = |tree: &std::path::Path| real.is_some() && tree.canonicalize().ok() == real;
        Ok(trees.into_iter().find(|(tree, _)| same(tree)).map(|(_, branch)| branch))
    }
}

/// Makes the folder for worktrees, with a note that git leaves it out. Whether the
/// worktree is there already.
fn prepare(hands: &Hands, project: &AbsPath, path: &AbsPath) -> Result<bool, ToolError> {
    let tell = |error| cannot("write", path, &error);
    let real = Place::resolve(path).map_err(tell)?;
    // Git would follow a link out of the project.
    let expected = path
        .strip_prefix(project)
        .ok()
        .and_then(|below| Some(Place::resolve(project).ok()?.join(below)));
    if expected.as_ref() != Some(&real) {
        return Err(ToolError::Tell(format!(
            "`{path}` leads elsewhere, to `{real}`: nothing was made"
        )));
    }
    ask(hands, &Access::Write { path: real.clone() })?;
    let Some(folder) = real.parent() else { return Ok(false) };
    let ignore = folder.join(IGNORE);
    if !ignore.as_path().exists() {
        let place = Place::open_folder(ignore, Parents::Create).map_err(tell)?;
        place.replace(None, None, b"*\n").map_err(tell)?;
    }
    Ok(real.as_path().exists())
}
