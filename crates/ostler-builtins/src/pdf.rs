//! The text of PDF pages. A PDF is a program by strangers, so it is taken apart in a child
//! process with limits on time and memory, which is our own binary under a switch.

mod child;
mod pages;
#[cfg(test)]
mod tests;

use std::time::Duration;

use ostler_protocol::{Block, MediaSource};
use ostler_sandbox::{Command, OutputCap};
use ostler_stdx::{AbsPath, bound_middle};
use ostler_tool::{ToolCx, ToolError, ToolOutput};
use serde_json::json;

use crate::{hands::Hands, text::base64};

pub use child::{fuzz_pdf, pdf_main};
pub(crate) use pages::Pages;

/// The first argument that asks this binary to read a PDF.
const SWITCH: &str = "--internal-pdf-text";
/// How long a PDF may take.
const TIME: Duration = Duration::from_secs(20);
/// Bytes that the child may answer with.
const ANSWER: usize = 1 << 20;
/// Pages above which the call must say which it wants.
const UNASKED: u32 = 10;
/// Bytes up to which a PDF without text is given to the model as it is.
const DOCUMENT: usize = 5 << 20;

/// What the child found.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
struct Found {
    /// Pages of the whole file.
    total: u32,
    /// The texts of the pages that were asked for, with their numbers; `None` for one that
    /// cannot be read.
    texts: Vec<(u32, Option<String>)>,
    /// Why there are none.
    error: Option<String>,
}

/// Shows pages of a PDF.
pub(crate) async fn read(
    path: &AbsPath,
    bytes: Vec<u8>,
    pages: Option<&str>,
    hands: &Hands,
    cx: &ToolCx,
) -> Result<ToolOutput, ToolError> {
    let tell = |text: String| ToolError::Tell(format!("cannot read `{path}`: {text}"));
    let wanted =
        pages.map(str::parse::<Pages>).transpose().map_err(|error| tell(error.to_string()))?;
    let asked = wanted.as_ref().map_or_else(|| format!("1-{UNASKED}"), Pages::to_string);
    let size = bytes.len();
    let document = (size <= DOCUMENT).then(|| base64(&bytes));
    let found = extract(bytes, &asked, hands, cx).await.map_err(|error| match error {
        ToolError::Tell(text) => tell(text),
        error => error,
    })?;
    if let Some(error) = found.error {
        return Err(tell(error));
    }
    if wanted.is_none() && found.total > UNASKED {
        return Err(tell(format!(
            "it has {} pages: name at most {} of them in pages, such as `1-5,8`",
            found.total,
            pages::MOST
        )));
    }
    if found.texts.is_empty() {
        return Err(tell(format!("it has {} pages, none of those in pages", found.total)));
    }
    let has_text = found
        .texts
        .iter()
        .any(|(_, text)| text.as_ref().is_some_and(|text| !text.trim().is_empty()));
    match document {
        Some(data) if !has_text => {
            let structured = json!({
                "type": "pdf",
                "file": { "filePath": path.to_text(), "base64": data, "originalSize": size },
            });
            let source = MediaSource::Base64 { media_type: "application/pdf".to_owned(), data };
            Ok(ToolOutput::blocks(vec![Block::Document { source }], structured))
        }
        None if !has_text => Err(tell(format!(
            "its pages have no text (they may be scanned), and it is larger than {} MB: turn pages into pictures, for example with `pdftoppm` in Bash",
            DOCUMENT >> 20
        ))),
        _ => Ok(told(path, &found, hands.limits.read_shown_bytes)),
    }
}

fn told(path: &AbsPath, found: &Found, cap: usize) -> ToolOutput {
    let page = |(number, text): &(u32, Option<String>)| {
        let text = match text {
            Some(text) if !text.trim().is_empty() => text.trim(),
            Some(_) => "[no text]",
            None => "[this page cannot be read]",
        };
        format!("<page number=\"{number}\" of=\"{}\">\n{text}\n</page>", found.total)
    };
    let text = found.texts.iter().map(page).collect::<Vec<_>>().join("\n");
    let hint = "read fewer pages at a time";
    let text = bound_middle(&text, cap - cap / 4, cap / 4, hint).text;
    let lines = text.lines().count();
    let structured = json!({
        "type": "text",
        "file": {
            "filePath": path.to_text(), "content": text,
            "numLines": lines, "startLine": 1, "totalLines": lines,
        },
    });
    ToolOutput::text(text, structured)
}

async fn extract(
    bytes: Vec<u8>,
    pages: &str,
    hands: &Hands,
    cx: &ToolCx,
) -> Result<Found, ToolError> {
    let own = if cfg!(target_os = "linux") {
        // The running binary, also if another was put in its place.
        "/proc/self/exe".into()
    } else {
        std::env::current_exe().map_err(|error| ToolError::Tell(error.to_string()))?
    };
    let command = Command::new(own, AbsPath::root())
        .args([SWITCH, pages])
        .input(bytes)
        .timeout(TIME)
        .output_cap(OutputCap { head: ANSWER, tail: 0 });
    let exit = hands.supervisor.run(&command, &cx.cancel, |_, _| {}).await;
    let exit =
        exit.map_err(|error| ToolError::Tell(format!("cannot start the reader of PDFs: {error}")))?;
    if exit.cancelled {
        return Err(ToolError::Cancelled);
    }
    if exit.timed_out {
        return Err(ToolError::Tell(format!(
            "taking it apart took longer than {} seconds: read fewer pages, or use `pdftotext` in Bash",
            TIME.as_secs()
        )));
    }
    serde_json::from_slice(&exit.stdout.bytes()).map_err(|_| {
        ToolError::Tell(
            "it is damaged or needs too much memory: try `pdftotext` in Bash".to_owned(),
        )
    })
}
