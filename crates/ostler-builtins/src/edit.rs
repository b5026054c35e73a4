//! Edit: replaces text in a file. Changes the bytes of the edit and no others; refuses
//! what is not one certain place.

pub(crate) mod apply;
pub(crate) mod fuzz;
mod lines;
pub(crate) mod rewrite;
#[cfg(test)]
mod tests;
mod view;

use ostler_protocol::{Access, FileDiff};
use ostler_stdx::AbsPath;
use ostler_tool::{Concurrency, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    args::{absolute, flag},
    diff::structured_patch,
    edit::apply::{Applied, Change, Count, Matcher, apply},
    files::{Target, blocking, committing},
    hands::Hands,
    text::{Encoding, decode},
};

/// Bytes up to which the file as it was is part of the structured output.
const ORIGINAL: usize = 1 << 20;

/// Edits files.
#[derive(Debug)]
pub(crate) struct Edit(pub(crate) Hands);

/// Arguments of Edit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The file, absolute or relative to the working folder.
    #[serde(alias = "filePath")]
    file_path: String,
    /// The text to replace, as the file has it, without the line numbers that Read shows.
    #[serde(alias = "oldString")]
    old_string: String,
    /// The text to put there; empty deletes.
    #[serde(alias = "newString")]
    new_string: String,
    /// Replace every place where old_string stands instead of the only one (default false).
    #[serde(default, alias = "replaceAll", deserialize_with = "flag")]
    replace_all: Option<bool>,
}

struct Planned {
    target: Target,
    after: Vec<u8>,
    applied: Applied,
}

impl Edit {
    fn path(&self, args: &Args, cwd: &AbsPath) -> AbsPath {
        absolute(&args.file_path, cwd, self.0.home.as_ref())
    }
}

impl Tool for Edit {
    const NAME: &'static str = "Edit";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("edit.md")
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
            let planned = plan(&path, &args, Target::open(&path, &hands)?)?;
            Ok(planned.target.diff(&planned.after))
        });
        diff.await.into_iter().collect()
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        let (path, hands) = (self.path(&args, &cx.cwd), self.0.clone());
        committing(&cx.clone(), move || edit(&path, &args, &hands, &cx)).await
    }
}

/// The file as it was, for the structured output; absent if that is long.
pub(crate) fn original(bytes: &[u8]) -> Option<String> {
    (bytes.len() <= ORIGINAL).then(|| match decode(bytes) {
        Ok(text) => text.into_shown(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    })
}

fn edit(path: &AbsPath, args: &Args, hands: &Hands, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    let target = Target::open(path, hands)?;
    target.check_seen(cx)?;
    let Planned { target, after, applied } = plan(path, args, target)?;
    let diff = target.diff(&after);
    let before = target.existing.as_ref().map(|existing| original(&existing.bytes));
    target.write(&after, cx)?;
    let structured = json!({
        "filePath": path.to_text(),
        "oldString": args.old_string,
        "newString": args.new_string,
        "originalFile": before.unwrap_or_else(|| Some(String::new())),
        "structuredPatch": structured_patch(&diff),
        "userModified": false,
        "replaceAll": args.replace_all.unwrap_or(false),
    });
    let mut output = ToolOutput::text(told(path, &applied), structured);
    output.diffs.push(diff);
    Ok(output)
}

fn told(path: &AbsPath, applied: &Applied) -> String {
    let places = match applied.places.len() {
        1 => format!("at line {}", applied.line),
        n => format!("at {n} places, the first at line {}", applied.line),
    };
    let note = applied.matcher.note().map(|note| format!(". old_string {note}"));
    format!("edited `{path}` {places}{}", note.unwrap_or_default())
}

/// The bytes of an edited text; `new` is what was put into it.
pub(crate) fn encode(encoding: Encoding, text: &str, new: &str) -> Result<Vec<u8>, String> {
    encoding.encode(text).ok_or_else(|| {
        let lacks = encoding.lacks(new).map(|c| format!(" (`{c}`)")).unwrap_or_default();
        let name = encoding.guessed_name().unwrap_or("its own");
        format!(
            "the file is in the encoding {name}, which has not all characters of the new text{lacks}. Nothing was written. Use other characters, or convert the file to UTF-8 first"
        )
    })
}

fn plan(path: &AbsPath, args: &Args, target: Target) -> Result<Planned, ToolError> {
    let tell = |text: String| ToolError::Tell(format!("cannot edit `{path}`: {text}"));
    let content: &[u8] = target.existing.as_ref().map_or(b"", |existing| &existing.bytes);
    if args.old_string.is_empty() && content.is_empty() {
        // Nothing is replaced by something: the way to fill a file that is new or empty.
        let after = args.new_string.clone().into_bytes();
        let applied = Applied {
            text: args.new_string.clone(),
            places: std::iter::once(0..0).collect(),
            line: 1,
            matcher: Matcher::Exact,
        };
        return Ok(Planned { target, after, applied });
    }
    if target.existing.is_none() {
        return Err(tell(
            "there is no such file, check the path or create it with Write".to_owned(),
        ));
    }
    let text =
        decode(content).map_err(|error| tell(format!("it {error}, which Edit does not change")))?;
    let count = if args.replace_all == Some(true) { Count::All } else { Count::One };
    let change = Change { old: &args.old_string, new: &args.new_string, count };
    let applied = apply(&text, change).map_err(|refusal| tell(refusal.to_string()))?;
    let after = encode(text.encoding, &applied.text, &args.new_string).map_err(tell)?;
    Ok(Planned { target, after, applied })
}
