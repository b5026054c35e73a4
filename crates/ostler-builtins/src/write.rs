//! Write: creates a file or replaces all of it. Never touches a file that the session
//! has not seen as it is.

use ostler_protocol::{Access, FileDiff};
use ostler_stdx::AbsPath;
use ostler_tool::{Concurrency, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    args::absolute,
    diff::structured_patch,
    edit::{encode, original, rewrite::Rewriter},
    files::{Target, blocking, committing},
    hands::Hands,
    text::{Encoding, decode, unify},
};

/// Writes whole files.
#[derive(Debug)]
pub(crate) struct Write(pub(crate) Hands);

/// Arguments of Write.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The file, absolute or relative to the working folder.
    #[serde(alias = "filePath")]
    file_path: String,
    /// The whole new content. Empty makes an empty file.
    content: String,
}

impl Write {
    fn path(&self, args: &Args, cwd: &AbsPath) -> AbsPath {
        absolute(&args.file_path, cwd, self.0.home.as_ref())
    }
}

impl Tool for Write {
    const NAME: &'static str = "Write";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("write.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Writer
    }

    fn access(&self, args: &Args, cwd: &AbsPath) -> Vec<Access> {
        vec![Access::Write { path: self.path(args, cwd) }]
    }

    fn title(&self, args: &Args) -> String {
        format!("Write {}", args.file_path)
    }

    async fn preview(&self, args: Args, cx: ToolCx) -> Vec<FileDiff> {
        let (path, hands) = (self.path(&args, &cx.cwd), self.0.clone());
        let diff = blocking(&cx, move || {
            let target = Target::open(&path, &hands)?;
            Ok(target.diff(&new_bytes(&target, &args)?))
        });
        diff.await.into_iter().collect()
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        let (path, hands) = (self.path(&args, &cx.cwd), self.0.clone());
        committing(&cx.clone(), move || write(&path, &args, &hands, &cx)).await
    }
}

fn write(path: &AbsPath, args: &Args, hands: &Hands, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    let target = Target::open(path, hands)?;
    target.check_seen(cx)?;
    let after = new_bytes(&target, args)?;
    let diff = target.diff(&after);
    let before = target.existing.as_ref().map(|existing| existing.bytes.clone());
    if before.as_ref() != Some(&after) {
        target.write(&after, cx)?;
    }
    let (kind, text) = match &before {
        None => ("create", format!("created `{path}`")),
        Some(before) if *before == after => {
            ("update", format!("`{path}` has this content already: nothing to write"))
        }
        Some(_) => (
            "update",
            format!("replaced `{path}`: {} lines added, {} removed", diff.added, diff.removed),
        ),
    };
    // A new file is all content: the Agent SDK has no patch for it.
    let patch = if before.is_none() { json!([]) } else { structured_patch(&diff) };
    let structured = json!({
        "type": kind,
        "filePath": path.to_text(),
        "content": args.content,
        "structuredPatch": patch,
        "originalFile": before.as_deref().map(original),
        "userModified": false,
    });
    let changed = before != Some(after);
    let mut output = ToolOutput::text(text, structured);
    output.diffs.extend(changed.then_some(diff));
    Ok(output)
}

/// The bytes to write. A model sees neither encoding nor line endings when it reads, so
/// those of an existing file stay, line by line, unless it asks for CR itself.
fn new_bytes(target: &Target, args: &Args) -> Result<Vec<u8>, ToolError> {
    let content = args.content.as_str();
    let Some(existing) = &target.existing else { return Ok(content.as_bytes().to_vec()) };
    let Ok(old) = decode(&existing.bytes) else { return Ok(content.as_bytes().to_vec()) };
    let keeps_endings = !content.contains('\r') && old.text.contains('\r');
    let neighbour = if old.text.contains("\r\n") { "\r\n" } else { "\n" };
    let text = if keeps_endings {
        Rewriter::new(&unify(&old.text), content).rewrite(&old.text, neighbour, ("", ""))
    } else {
        content.to_owned()
    };
    // Content that brings its own mark does not get a second one.
    let text = if old.encoding == Encoding::Utf8 {
        &text
    } else {
        text.strip_prefix('\u{feff}').unwrap_or(&text)
    };
    if old.encoding == Encoding::Bytes && !text.is_ascii() {
        return Err(ToolError::Tell(
            "the file is in an unknown 8-bit encoding and the new content is not ASCII: nothing was written, \
             change it by Edit in its ASCII parts, or convert or delete the file first"
                .to_owned(),
        ));
    }
    if let Encoding::Legacy(_) = old.encoding {
        return encode(old.encoding, text, text).map_err(ToolError::Tell);
    }
    Ok(old.encoding.encode(text).unwrap_or_else(|| text.as_bytes().to_vec()))
}
