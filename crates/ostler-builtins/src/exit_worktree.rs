//! ExitWorktree: leads back to the project folder, and removes the worktree if that loses
//! nothing or if losing it was asked for. Removes only what EnterWorktree makes.

use ostler_protocol::Access;
use ostler_stdx::AbsPath;
use ostler_tool::{Change, Concurrency, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    args::flag,
    disk::Place,
    files::{ask, blocking, cannot},
    git::Git,
    hands::Hands,
    worktree::{Current, Entered, branch, own},
};

/// Files that are named when they keep a worktree from going.
const NAMED: usize = 10;

/// Leaves worktrees.
#[derive(Debug)]
pub(crate) struct ExitWorktree(pub(crate) Hands);

/// Arguments of ExitWorktree.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// `keep` leaves the worktree as it is, `remove` takes it away with its branch.
    action: Action,
    /// Removes it even if work in it is lost. Only if the person wants exactly that.
    #[serde(default, deserialize_with = "flag")]
    discard_changes: Option<bool>,
}

/// What becomes of the worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    Keep,
    Remove,
}

impl Tool for ExitWorktree {
    const NAME: &'static str = "ExitWorktree";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("exit_worktree.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Writer
    }

    fn access(&self, args: &Args, cwd: &AbsPath) -> Vec<Access> {
        let Some(entered) = own(cwd).filter(|_| args.action == Action::Remove) else {
            return vec![Access::Nothing];
        };
        let force = if args.discard_changes == Some(true) { "--force " } else { "" };
        let name = entered.name.unwrap_or_default();
        let command = format!(
            "git worktree remove {force}{}/{name} && git branch -D {}",
            crate::worktree::FOLDER,
            branch(&name)
        );
        vec![Access::Write { path: entered.path }, Access::Shell { command, cwd: entered.original }]
    }

    fn title(&self, args: &Args) -> String {
        match args.action {
            Action::Keep => "Leave the worktree".to_owned(),
            Action::Remove => "Remove the worktree".to_owned(),
        }
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        if cx.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let current = cx.state.get::<Current>();
        let Some(entered) = current.or(&cx.cwd) else {
            // A worktree that was entered by its path before a resume.
            if args.action == Action::Keep && self.is_linked(&cx).await? {
                return Ok(left(None, &cx.cwd, "kept"));
            }
            let text =
                "the session works in no worktree that EnterWorktree made: nothing was removed";
            return Err(ToolError::Tell(text.to_owned()));
        };
        let done = match args.action {
            Action::Keep => "kept",
            Action::Remove => {
                self.remove(&entered, args.discard_changes == Some(true), &cx).await?;
                "removed"
            }
        };
        current.set(None);
        Ok(left(Some(&entered.original), &entered.path, done))
    }
}

fn left(original: Option<&AbsPath>, path: &AbsPath, done: &str) -> ToolOutput {
    let message =
        format!("Worktree `{path}` was {done}; the session works in the project folder again.");
    let structured = json!({
        "action": if done == "kept" { "keep" } else { "remove" },
        "originalCwd": original.map(AbsPath::to_text),
        "worktreePath": path.to_text(),
        "message": message,
    });
    ToolOutput::text(message, structured).with_change(Change::Folder(None))
}

impl ExitWorktree {
    /// Whether the working folder lies in a worktree beside the repository's first one.
    async fn is_linked(&self, cx: &ToolCx) -> Result<bool, ToolError> {
        let git = Git::open(&self.0, &cx.cwd, &cx.cancel).await?;
        let args = ["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"];
        let folders = git.ok(&args).await?;
        Ok(folders.split_once('\n').is_some_and(|(own, common)| own != common))
    }

    async fn remove(&self, entered: &Entered, discard: bool, cx: &ToolCx) -> Result<(), ToolError> {
        let Some(name) = &entered.name else {
            return Err(ToolError::Tell(format!(
                "worktree `{}` was there before the session entered it: it is not removed, leave it with `keep`",
                entered.path
            )));
        };
        if own(&cx.cwd).as_ref() != Some(entered) {
            let text =
                format!("`{}` is not where the call pointed when it was allowed", entered.path);
            return Err(ToolError::Tell(text));
        }
        let (path, hands) = (entered.path.clone(), self.0.clone());
        let check = blocking(cx, move || {
            let real = Place::resolve(&path).map_err(|error| cannot("remove", &path, &error))?;
            ask(&hands, &Access::Write { path: real })
        });
        check.await?;
        let inside = Git::open(&self.0, &entered.path, &cx.cancel).await?;
        if !discard {
            refuse_loss(&inside, name, &entered.path).await?;
        }
        let project = inside.at(&entered.original);
        let path = entered.path.to_text();
        let args: &[&str] = if discard {
            &["worktree", "remove", "--force", &path]
        } else {
            &["worktree", "remove", &path]
        };
        project.ok(args).await?;
        let own = branch(name);
        let head = format!("refs/heads/{own}");
        if project.run(&["show-ref", "--verify", "--quiet", &head]).await?.ok {
            project.ok(&["branch", "--quiet", "-D", &own]).await?;
        }
        Ok(())
    }
}

/// Refuses if files or commits would be gone with the worktree and its branch.
async fn refuse_loss(git: &Git<'_>, name: &str, path: &AbsPath) -> Result<(), ToolError> {
    let status = git
        .ok(&["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"])
        .await?;
    let files: Vec<&str> = status.split('\0').filter_map(|entry| entry.get(3..)).collect();
    let own = branch(name);
    let exclude = format!("--exclude={own}");
    let mut args = vec!["rev-list", "--count", "HEAD"];
    let head = format!("refs/heads/{own}");
    if git.run(&["show-ref", "--verify", "--quiet", &head]).await?.ok {
        args.push(&head);
    }
    args.extend(["--not", exclude.as_str(), "--branches", "--tags", "--remotes"]);
    let commits = git.ok(&args).await?;
    let mut lost = Vec::new();
    if !files.is_empty() {
        let mut named =
            files.iter().take(NAMED).map(|file| format!("`{file}`")).collect::<Vec<_>>().join(", ");
        if files.len() > NAMED {
            named.push_str(&format!(" and {} more", files.len() - NAMED));
        }
        lost.push(format!("changes that are not committed ({named})"));
    }
    if commits != "0" {
        lost.push(format!("{commits} commits that are on no other branch and not pushed"));
    }
    if lost.is_empty() {
        return Ok(());
    }
    Err(ToolError::Tell(format!(
        "worktree `{path}` was not removed, since it holds {}: commit and merge or push them, leave it with \
         `keep`, or ask the person whether they can go and set discard_changes",
        lost.join(" and ")
    )))
}
