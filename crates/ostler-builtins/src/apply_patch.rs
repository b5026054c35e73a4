//! ApplyPatch: changes several files by one patch, all or none. Writes nothing before every
//! hunk is found and every file is checked; a write that fails takes the others back.

mod hunks;
mod parse;
#[cfg(test)]
mod tests;

use ostler_protocol::{Access, FileDiff};
use ostler_stdx::AbsPath;
use ostler_tool::{Concurrency, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    args::absolute,
    diff::structured_patch,
    disk::Kept,
    edit::encode,
    files::{Existing, Target, blocking, committing},
    hands::Hands,
    text::{decode, unify},
};

use parse::{Operation, parse};

/// Operations that one patch may have.
const MOST: usize = 200;

/// Applies patches.
#[derive(Debug)]
pub(crate) struct ApplyPatch(pub(crate) Hands);

/// Arguments of ApplyPatch.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The whole patch, from `*** Begin Patch` to `*** End Patch`.
    #[serde(alias = "input", alias = "patchText")]
    patch: String,
}

impl Tool for ApplyPatch {
    const NAME: &'static str = "ApplyPatch";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("apply_patch.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Writer
    }

    fn access(&self, args: &Args, cwd: &AbsPath) -> Vec<Access> {
        // A patch that makes no sense writes nothing.
        let operations = parse(&args.patch).unwrap_or_default();
        let paths = operations.iter().flat_map(|operation| match operation {
            Operation::Add { path, .. } | Operation::Delete { path } => vec![path],
            Operation::Update { path, move_to, .. } => {
                std::iter::once(path).chain(move_to).collect()
            }
        });
        paths
            .map(|path| Access::Write { path: absolute(path, cwd, self.0.home.as_ref()) })
            .collect()
    }

    fn title(&self, args: &Args) -> String {
        match parse(&args.patch).unwrap_or_default().as_slice() {
            [
                Operation::Add { path, .. }
                | Operation::Delete { path }
                | Operation::Update { path, .. },
            ] => {
                format!("Patch {path}")
            }
            operations => format!("Patch {} files", operations.len()),
        }
    }

    async fn preview(&self, args: Args, cx: ToolCx) -> Vec<FileDiff> {
        let (hands, cwd) = (self.0.clone(), cx.cwd.clone());
        let steps = blocking(&cx, move || plan(&args.patch, &cwd, &hands, None)).await;
        steps.unwrap_or_default().iter().map(|step| step.diff()).collect()
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        let hands = self.0.clone();
        committing(&cx.clone(), move || patch(&args.patch, &hands, &cx)).await
    }
}

/// The new state of one file.
#[derive(Debug)]
struct Step {
    path: AbsPath,
    target: Target,
    /// Absent if the file goes.
    after: Option<Vec<u8>>,
    /// What the new file takes over from the one that was moved.
    like: Option<Kept>,
}

impl Step {
    fn diff(&self) -> FileDiff {
        match &self.after {
            Some(after) => self.target.diff(after),
            None => self.target.diff_of_removal(),
        }
    }
}

fn patch(patch: &str, hands: &Hands, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    let steps = plan(patch, &cx.cwd, hands, Some(cx))?;
    let diffs: Vec<_> = steps.iter().map(Step::diff).collect();
    let mut told = "applied the patch:".to_owned();
    let mut files = Vec::new();
    for (step, diff) in steps.iter().zip(&diffs) {
        let done = match (&step.target.existing, &step.after) {
            (None, _) => "created",
            (_, None) => "deleted",
            _ => "changed",
        };
        told.push_str(&format!("\n{done} `{}`", step.path));
        files.push(json!({
            "filePath": step.path.to_text(),
            "type": done,
            "structuredPatch": structured_patch(diff),
        }));
    }
    commit(steps, hands, cx)?;
    Ok(ToolOutput::text(told, json!({ "files": files })).with_diffs(diffs))
}

/// Writes all steps; if one fails, those before it are taken back.
fn commit(steps: Vec<Step>, hands: &Hands, cx: &ToolCx) -> Result<(), ToolError> {
    if cx.cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    let mut done: Vec<(AbsPath, Option<Existing>)> = Vec::new();
    for step in steps {
        let before = step.target.existing.clone();
        let result = match &step.after {
            Some(after) => step.target.write_like(step.like.as_ref(), after, cx),
            None => step.target.remove(),
        };
        let Err(error) = result else {
            done.push((step.path, before));
            continue;
        };
        let mut left = Vec::new();
        for (path, before) in done.into_iter().rev() {
            let back = Target::open(&path, hands).and_then(|target| match &before {
                Some(before) => target.restore(before, cx),
                None => target.remove(),
            });
            left.extend(back.err().map(|_| format!("`{path}`")));
        }
        let state = if left.is_empty() {
            "all files are as they were".to_owned()
        } else {
            format!("these files could not be put back: {}", left.join(", "))
        };
        return Err(match error {
            ToolError::Tell(text) => {
                ToolError::Tell(format!("{text}. The patch was not applied, {state}"))
            }
            // Stopped between two files: they are taken back as well.
            error => error,
        });
    }
    Ok(())
}

/// Reads all files and finds all hunks; writes nothing. With a context, the files must have
/// been seen.
fn plan(
    patch: &str,
    cwd: &AbsPath,
    hands: &Hands,
    seen: Option<&ToolCx>,
) -> Result<Vec<Step>, ToolError> {
    let refuse = |text: String| {
        ToolError::Tell(format!("cannot apply the patch: {text}. Nothing was written"))
    };
    let operations = parse(patch).map_err(refuse)?;
    if operations.len() > MOST {
        return Err(refuse(format!("it has more than {MOST} files, split it")));
    }
    let mut steps: Vec<Step> = Vec::new();
    let open = |path: &str| {
        let path = absolute(path, cwd, hands.home.as_ref());
        Target::open(&path, hands).map(|target| (path, target))
    };
    let known = |path: &AbsPath, target: &Target| {
        if target.existing.is_none() {
            return Err(refuse(format!("there is no file `{path}`")));
        }
        seen.map_or(Ok(()), |cx| target.check_seen(cx))
    };
    let fresh = |path: &AbsPath, target: &Target| match target.existing {
        Some(_) => Err(refuse(format!("`{path}` is there already: update it, or delete it first"))),
        None => Ok(()),
    };
    for operation in operations {
        match operation {
            Operation::Add { path, content } => {
                let (path, target) = open(&path)?;
                fresh(&path, &target)?;
                steps.push(Step { path, target, after: Some(content.into_bytes()), like: None });
            }
            Operation::Delete { path } => {
                let (path, target) = open(&path)?;
                known(&path, &target)?;
                steps.push(Step { path, target, after: None, like: None });
            }
            Operation::Update { path, move_to, hunks } => {
                let (path, target) = open(&path)?;
                known(&path, &target)?;
                let after =
                    changed(&target, &hunks).map_err(|why| refuse(format!("`{path}`: {why}")))?;
                let Some(to) = move_to else {
                    steps.push(Step { path, target, after: Some(after), like: None });
                    continue;
                };
                let (to, moved) = open(&to)?;
                fresh(&to, &moved)?;
                let like = target.existing.as_ref().map(|existing| existing.kept.clone());
                steps.push(Step { path: to, target: moved, after: Some(after), like });
                steps.push(Step { path, target, after: None, like: None });
            }
        }
    }
    for (at, step) in steps.iter().enumerate() {
        if steps[..at].iter().any(|other| other.target.is_same_file(&step.target)) {
            return Err(refuse(format!("`{}` is named twice: put its hunks together", step.path)));
        }
    }
    // What can be undone most easily comes first.
    steps.sort_by_key(|step| step.after.is_none());
    Ok(steps)
}

fn changed(target: &Target, hunks: &[parse::Hunk]) -> Result<Vec<u8>, String> {
    let bytes = target.existing.as_ref().map_or(&[][..], |existing| &existing.bytes);
    if hunks.is_empty() {
        return Ok(bytes.to_vec());
    }
    let text =
        decode(bytes).map_err(|error| format!("it {error}, which ApplyPatch does not change"))?;
    let added: String = hunks.iter().flat_map(|hunk| &hunk.new).map(String::as_str).collect();
    if text.encoding == crate::text::Encoding::Bytes && !added.is_ascii() {
        return Err(
            "it is in an unknown encoding, in which only ASCII lines can be changed".to_owned()
        );
    }
    let after = hunks::apply(&text.text, hunks)?;
    encode(text.encoding, &after, &unify(&added))
}

/// Reads a patch and applies its hunks to a file, both cut from `data` at its first zero
/// byte, for the fuzzer. Panics if the result is not the file with other lines.
pub fn fuzz_patch(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Some((source, patch)) = text.split_once('\0') else { return };
    for operation in parse(patch).unwrap_or_default() {
        let Operation::Update { hunks, .. } = operation else { continue };
        let Ok(after) = hunks::apply(source, &hunks) else { continue };
        let old: usize = hunks.iter().map(|hunk| hunk.old.len()).sum();
        let new: usize = hunks.iter().map(|hunk| hunk.new.len()).sum();
        let count = |text: &str| unify(text).lines().count();
        // An empty last line without an ending is no line.
        assert!(
            (count(&after) + old).abs_diff(count(source) + new) <= 1,
            "lines were lost or added"
        );
    }
}
