//! Read: shows a text file with line numbers, a picture, a PDF, a notebook or a folder.
//! Never shows more than its caps, and never blocks on a pipe or device.

pub(crate) mod image;
mod notebook;
mod page;
mod shrink;

use std::{
    fs::File,
    io::{self, Read as _},
};

use ostler_protocol::{Access, Block, MediaSource};
use ostler_stdx::AbsPath;
use ostler_tool::{Concurrency, FileReads, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    args::{absolute, flag, number},
    disk::{Parents, Place},
    files::{ask, blocking, cannot},
    hands::{Hands, Limits},
    pdf,
    read::page::{Page, Window},
    text::{ContentHash, Encoding, NotText, base64, decode},
};

/// Bytes that are looked at to tell what a file is.
const HEAD: usize = 8 * 1024;
/// Entries of a folder that are listed.
const ENTRIES: usize = 500;

/// Reads files.
#[derive(Debug)]
pub(crate) struct Read(pub(crate) Hands);

/// Arguments of Read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The file or folder, absolute or relative to the working folder.
    #[serde(alias = "filePath")]
    file_path: String,
    /// The first line to show, from 1 (default 1).
    #[serde(default, deserialize_with = "number")]
    offset: Option<u64>,
    /// How many lines to show (default 2000).
    #[serde(default, deserialize_with = "number")]
    limit: Option<u64>,
    /// Pages of a PDF, such as `3` or `1-5,8` (at most 20).
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pages: Option<serde_json::Value>,
    /// Taken and not used: the caps hold.
    #[schemars(skip)]
    #[serde(default, rename = "allow_large", deserialize_with = "flag")]
    _allow_large: Option<bool>,
    /// Taken and not used: pictures are always shown as such.
    #[schemars(skip)]
    #[serde(default, rename = "asImage", deserialize_with = "flag")]
    _as_image: Option<bool>,
}

impl Read {
    fn path(&self, args: &Args, cwd: &AbsPath) -> AbsPath {
        absolute(&args.file_path, cwd, self.0.home.as_ref())
    }
}

impl Tool for Read {
    const NAME: &'static str = "Read";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("read.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Reader
    }

    fn access(&self, args: &Args, cwd: &AbsPath) -> Vec<Access> {
        vec![Access::Read { path: self.path(args, cwd) }]
    }

    fn title(&self, args: &Args) -> String {
        format!("Read {}", args.file_path)
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        let path = self.path(&args, &cx.cwd);
        let (hands, inner) = (self.0.clone(), cx.clone());
        let pages = match &args.pages {
            None | Some(serde_json::Value::Null) => None,
            Some(serde_json::Value::String(pages)) => Some(pages.clone()),
            Some(other) => Some(other.to_string()),
        };
        let of = path.clone();
        match blocking(&cx, move || read(&of, &args, &hands, &inner)).await? {
            Gave::Output(output) => Ok(output),
            Gave::Pdf(bytes) => pdf::read(&path, bytes, pages.as_deref(), &self.0, &cx).await,
        }
    }
}

/// What a file gave.
enum Gave {
    Output(ToolOutput),
    /// A PDF, which is taken apart elsewhere.
    Pdf(Vec<u8>),
}

impl From<ToolOutput> for Gave {
    fn from(output: ToolOutput) -> Self {
        Self::Output(output)
    }
}

fn read(path: &AbsPath, args: &Args, hands: &Hands, cx: &ToolCx) -> Result<Gave, ToolError> {
    let tell = |error: io::Error| cannot("read", path, &error);
    let real = Place::resolve(path).map_err(tell)?;
    ask(hands, &Access::Read { path: real.clone() })?;
    let mut file = Place::open_folder(real.clone(), Parents::Required)
        .and_then(|place| place.open())
        .map_err(tell)?;
    let meta = file.metadata().map_err(tell)?;
    if meta.is_dir() {
        return folder(path, &real).map(Gave::from);
    }
    if !meta.is_file() {
        return Err(ToolError::Tell(format!(
            "`{path}` is a pipe, socket or device: it cannot be read"
        )));
    }
    let mut head = Vec::new();
    file.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(tell)?;
    let size = meta.len().max(head.len() as u64);
    if let Some(kind) = image::Kind::of(&head) {
        return picture(path, kind, head, file, &hands.limits).map(Gave::from);
    }
    if head.starts_with(b"%PDF-") {
        let cap = hands.limits.pdf_bytes;
        let mut bytes = head;
        file.take(cap).read_to_end(&mut bytes).map_err(tell)?;
        if bytes.len() as u64 > cap {
            return Err(ToolError::Tell(format!(
                "`{path}` is a PDF larger than {} MB: use `pdftotext` in Bash",
                cap >> 20
            )));
        }
        return Ok(Gave::Pdf(bytes));
    }
    let encoding = Encoding::sniff(&head).map_err(|error| not_text(path, error))?;
    let limits = &hands.limits;
    let in_part = args.offset.is_some() || args.limit.is_some();
    if size > limits.read_file_bytes {
        let (mb, cap) = (size >> 20, limits.read_file_bytes >> 20);
        if encoding.is_wide() {
            return Err(ToolError::Tell(format!(
                "`{path}` is UTF-16 and {mb} MB: convert it to UTF-8 first, or search it with Grep"
            )));
        }
        if !in_part {
            return Err(ToolError::Tell(format!(
                "`{path}` is {mb} MB, more than {cap} MB: give offset and limit to read a part of it, or search it with Grep"
            )));
        }
        let page = Page::stream(head, file, &window(args, limits), &cx.cancel)
            .map_err(tell)?
            .ok_or(ToolError::Cancelled)?;
        return Ok(shown(path, &real, &page, args, cx).into());
    }
    let mut bytes = head;
    // A file that says it is empty may not be (/proc), so the cap holds here as well.
    file.take(limits.read_file_bytes).read_to_end(&mut bytes).map_err(tell)?;
    if let Some(output) = notebook::read(path, &bytes, limits.read_shown_bytes) {
        cx.state.get::<FileReads>().saw(&real, ContentHash::of(&bytes));
        return Ok(output.into());
    }
    let text = decode(&bytes).map_err(|error| not_text(path, error))?;
    let page = Page::of_text(text, ContentHash::of(&bytes), &window(args, limits));
    Ok(shown(path, &real, &page, args, cx).into())
}

fn window(args: &Args, limits: &Limits) -> Window {
    let lines = |lines: u64| usize::try_from(lines).unwrap_or(usize::MAX);
    Window {
        first: args.offset.map_or(1, lines).max(1),
        lines: args.limit.map_or(limits.read_lines, lines).max(1),
        line_chars: limits.read_line_chars,
        bytes: limits.read_shown_bytes,
    }
}

fn not_text(path: &AbsPath, error: NotText) -> ToolError {
    ToolError::Tell(format!(
        "`{path}` {error}: it cannot be shown as text, look at it with a command in Bash"
    ))
}

fn shown(path: &AbsPath, real: &AbsPath, page: &Page, args: &Args, cx: &ToolCx) -> ToolOutput {
    if let Some(hash) = page.hash {
        cx.state.get::<FileReads>().saw(real, hash);
    }
    let structured = json!({
        "type": "text",
        "file": {
            "filePath": path.to_text(),
            "content": page.content(),
            "numLines": page.lines.len(),
            "startLine": page.first,
            "totalLines": page.total,
        },
    });
    ToolOutput::text(page.told(args.limit.is_some()), structured)
}

fn picture(
    path: &AbsPath,
    kind: image::Kind,
    mut bytes: Vec<u8>,
    file: File,
    limits: &Limits,
) -> Result<ToolOutput, ToolError> {
    let cap = limits.image_bytes;
    file.take(cap).read_to_end(&mut bytes).map_err(|error| cannot("read", path, &error))?;
    if bytes.len() as u64 > cap {
        let text =
            format!("picture `{path}` is larger than {} MB: make it smaller first", cap >> 20);
        return Err(ToolError::Tell(text));
    }
    let size = bytes.len();
    let dimensions = image::dimensions(kind, &bytes);
    let shrunk = shrink::shrink(kind, dimensions, &bytes)
        .map_err(|error| ToolError::Tell(format!("picture `{path}` {error}")))?;
    let (kind, bytes, original, shown) = match shrunk {
        Some(shrunk) => (shrunk.kind, shrunk.bytes, Some(shrunk.original), Some(shrunk.shown)),
        None => (kind, bytes, dimensions, dimensions),
    };
    let data = base64(&bytes);
    let mut structured = json!({
        "type": "image",
        "file": { "base64": data, "type": kind.media_type(), "originalSize": size },
    });
    if let (Some(original), Some(shown)) = (original, shown) {
        structured["file"]["dimensions"] = json!({
            "originalWidth": original.0, "originalHeight": original.1,
            "displayWidth": shown.0, "displayHeight": shown.1,
        });
    }
    let source = MediaSource::Base64 { media_type: kind.media_type().to_owned(), data };
    let mut blocks = vec![Block::Image { source }];
    if let (Some(original), Some(shown)) = (original, shown)
        && original != shown
    {
        let scale = f64::from(original.0) / f64::from(shown.0.max(1));
        blocks.push(Block::Text {
            text: format!(
                "[shown with {} x {} pixels, the original has {} x {}: multiply coordinates by {scale:.2}]",
                shown.0, shown.1, original.0, original.1
            ),
        });
    }
    Ok(ToolOutput::blocks(blocks, structured))
}

fn folder(path: &AbsPath, real: &AbsPath) -> Result<ToolOutput, ToolError> {
    let tell = |error: io::Error| cannot("read", path, &error);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(real).map_err(tell)? {
        let entry = entry.map_err(tell)?;
        let mark = if entry.file_type().is_ok_and(|kind| kind.is_dir()) { "/" } else { "" };
        names.push(format!("{}{mark}", entry.file_name().to_string_lossy()));
    }
    names.sort_unstable();
    let total = names.len();
    names.truncate(ENTRIES);
    let mut content = names.join("\n");
    if total > names.len() {
        content.push_str(&format!("\n[{} more entries: find them with Glob]", total - names.len()));
    }
    let structured = json!({
        "type": "text",
        "file": {
            "filePath": path.to_text(),
            "content": content,
            "numLines": names.len(),
            "startLine": 1,
            "totalLines": total,
        },
    });
    let text = if total == 0 {
        format!("folder `{path}` is empty")
    } else {
        format!("folder `{path}`:\n{content}")
    };
    Ok(ToolOutput::text(text, structured))
}
