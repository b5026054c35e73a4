//! MultiEdit: several edits of one file, all or none. Never writes a part of them.

use ostler_protocol::{Access, FileDiff};
use ostler_stdx::AbsPath;
use ostler_tool::{Concurrency, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    args::{absolute, flag, list},
    diff::structured_patch,
    edit::{
        apply::{Change, Count, apply},
        encode, original,
    },
    files::{Target, blocking, committing},
    hands::Hands,
    text::decode,
};

/// Makes several edits of a file.
#[derive(Debug)]
pub(crate) struct MultiEdit(pub(crate) Hands);

/// Arguments of MultiEdit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The file, absolute or relative to the working folder.
    #[serde(alias = "filePath")]
    file_path: String,
    /// The edits, in order; at least one.
    #[serde(deserialize_with = "list")]
    edits: Vec<One>,
}

/// One edit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct One {
    /// The text to replace, as the edits before this one left it.
    #[serde(alias = "oldString")]
    old_string: String,
    /// The text to put there; empty deletes.
    #[serde(alias = "newString")]
    new_string: String,
    /// Replace every place where old_string stands instead of the only one (default false).
    #[serde(default, alias = "replaceAll", deserialize_with = "flag")]
    replace_all: Option<bool>,
}

impl MultiEdit {
    fn path(&self, args: &Args, cwd: &AbsPath) -> AbsPath {
        absolute(&args.file_path, cwd, self.0.home.as_ref())
    }
}

impl Tool for MultiEdit {
    const NAME: &'static str = "MultiEdit";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("multi_edit.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Writer
    }

    fn access(&self, args: &Args, cwd: &AbsPath) -> Vec<Access> {
        vec![Access::Write { path: self.path(args, cwd) }]
    }

    fn title(&self, args: &Args) -> String {
        format!("Edit {}", args.file_path)
    }

    async fn preview(&self, args: Args, cx: ToolCx) -> Vec<FileDiff> {
        let (path, hands) = (self.path(&args, &cx.cwd), self.0.clone());
        let diff = blocking(&cx, move || {
            let target = Target::open(&path, &hands)?;
            let (after, _) = plan(&path, &args, &target)?;
            Ok(target.diff(&after))
        });
        diff.await.into_iter().collect()
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        let (path, hands) = (self.path(&args, &cx.cwd), self.0.clone());
        committing(&cx.clone(), move || edit(&path, &args, &hands, &cx)).await
    }
}

fn edit(path: &AbsPath, args: &Args, hands: &Hands, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    let target = Target::open(path, hands)?;
    target.check_seen(cx)?;
    let (after, told) = plan(path, args, &target)?;
    let diff = target.diff(&after);
    let before = target.existing.as_ref().and_then(|existing| original(&existing.bytes));
    target.write(&after, cx)?;
    let edits: Vec<_> = args
        .edits
        .iter()
        .map(|edit| {
            json!({
                "old_string": edit.old_string,
                "new_string": edit.new_string,
                "replace_all": edit.replace_all.unwrap_or(false),
            })
        })
        .collect();
    let structured = json!({
        "filePath": path.to_text(),
        "edits": edits,
        "originalFile": before,
        "structuredPatch": structured_patch(&diff),
        "userModified": false,
    });
    let mut output = ToolOutput::text(told, structured);
    output.diffs.push(diff);
    Ok(output)
}

fn plan(path: &AbsPath, args: &Args, target: &Target) -> Result<(Vec<u8>, String), ToolError> {
    let tell = |text: String| ToolError::Tell(format!("cannot edit `{path}`: {text}"));
    let Some(existing) = &target.existing else {
        return Err(tell(
            "there is no such file, check the path or create it with Write".to_owned(),
        ));
    };
    if args.edits.is_empty() {
        return Err(tell("edits is empty: give at least one".to_owned()));
    }
    let mut text = decode(&existing.bytes)
        .map_err(|error| tell(format!("it {error}, which MultiEdit does not change")))?;
    let mut told = format!("edited `{path}`:");
    for (at, one) in args.edits.iter().enumerate() {
        let number = at + 1;
        let refused = |why: String| {
            tell(format!("edit {number} of {}: {why}. Nothing was written", args.edits.len()))
        };
        let count = if one.replace_all == Some(true) { Count::All } else { Count::One };
        let change = Change { old: &one.old_string, new: &one.new_string, count };
        let applied = apply(&text, change).map_err(|refusal| refused(refusal.to_string()))?;
        encode(text.encoding, &applied.text, &one.new_string).map_err(refused)?;
        let note = applied.matcher.note().map(|note| format!(" (old_string {note})"));
        // A hundred lines are enough to tell.
        if at < 100 {
            told.push_str(&format!(
                "\n{number}. line {}{}",
                applied.line,
                note.unwrap_or_default()
            ));
        }
        text.text = applied.text;
    }
    let after = encode(text.encoding, &text.text, "").map_err(tell)?;
    Ok((after, told))
}
