//! NotebookEdit: changes one cell of a Jupyter notebook. Never touches another cell, and
//! refuses a notebook that is damaged.

mod change;
pub(crate) mod fuzz;
mod json;
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
    edit::{encode, original},
    files::{Target, blocking, committing},
    hands::Hands,
    text::decode,
};

use change::{Change, Changed, Kind, Mode, apply};

/// Edits notebooks.
#[derive(Debug)]
pub(crate) struct NotebookEdit(pub(crate) Hands);

/// Arguments of NotebookEdit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The notebook, absolute or relative to the working folder.
    notebook_path: String,
    /// The id of the cell to change, or behind which to insert, as Read shows it.
    #[serde(default)]
    cell_id: Option<String>,
    /// The whole new source of the cell.
    #[serde(default)]
    new_source: String,
    /// What the cell is to be.
    #[serde(default)]
    cell_type: Option<CellType>,
    /// What to do (default replace).
    #[serde(default)]
    edit_mode: Option<EditMode>,
}

/// A type of cell.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CellType {
    Code,
    Markdown,
    Raw,
}

/// What is done with a cell.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum EditMode {
    #[default]
    Replace,
    Insert,
    Delete,
}

impl NotebookEdit {
    fn path(&self, args: &Args, cwd: &AbsPath) -> AbsPath {
        absolute(&args.notebook_path, cwd, self.0.home.as_ref())
    }
}

impl Tool for NotebookEdit {
    const NAME: &'static str = "NotebookEdit";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("notebook_edit.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Writer
    }

    fn access(&self, args: &Args, cwd: &AbsPath) -> Vec<Access> {
        vec![Access::Write { path: self.path(args, cwd) }]
    }

    fn title(&self, args: &Args) -> String {
        format!("Edit {}", args.notebook_path)
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
    let (after, changed) = plan(path, args, &target)?;
    let diff = target.diff(&after);
    let before =
        target.existing.as_ref().map(|existing| existing.bytes.clone()).unwrap_or_default();
    let is_same = before == after;
    if !is_same {
        target.write(&after, cx)?;
    }
    let (cell, (mode, done)) = (&changed.cell, words(args));
    let structured = json!({
        "new_source": args.new_source,
        "cell_id": cell,
        "cell_type": changed.kind.name(),
        "language": changed.language,
        "edit_mode": mode,
        "error": "",
        "notebook_path": path.to_text(),
        "original_file": original(&before),
        "updated_file": original(&after),
    });
    let text = if is_same {
        format!("cell `{cell}` of `{path}` is so already: nothing to write")
    } else {
        format!("{done} cell `{cell}` of `{path}`")
    };
    let mut output = ToolOutput::text(text, structured);
    output.diffs.extend((!is_same).then_some(diff));
    Ok(output)
}

fn words(args: &Args) -> (&'static str, &'static str) {
    match args.edit_mode.unwrap_or_default() {
        EditMode::Replace => ("replace", "replaced"),
        EditMode::Insert => ("insert", "inserted"),
        EditMode::Delete => ("delete", "deleted"),
    }
}

fn plan(path: &AbsPath, args: &Args, target: &Target) -> Result<(Vec<u8>, Changed), ToolError> {
    let tell = |text: String| ToolError::Tell(format!("cannot edit `{path}`: {text}"));
    if !path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("ipynb")) {
        return Err(tell("it is not named `.ipynb`, change it with Edit".to_owned()));
    }
    let Some(existing) = &target.existing else {
        return Err(tell("there is no such file, check the path".to_owned()));
    };
    let text = decode(&existing.bytes).map_err(|error| tell(format!("it {error}")))?;
    let mode = match args.edit_mode.unwrap_or_default() {
        EditMode::Replace => Mode::Replace,
        EditMode::Insert => Mode::Insert,
        EditMode::Delete => Mode::Delete,
    };
    let kind = args.cell_type.map(|kind| match kind {
        CellType::Code => Kind::Code,
        CellType::Markdown => Kind::Markdown,
        CellType::Raw => Kind::Raw,
    });
    let change = Change { mode, cell: args.cell_id.as_deref(), source: &args.new_source, kind };
    let changed = apply(&text.text, change).map_err(tell)?;
    let after = encode(text.encoding, &changed.text, &args.new_source).map_err(tell)?;
    Ok((after, changed))
}
