//! Output: pages through an output that was too long to show. Reads what the host keeps
//! of this session, and nothing else.

use std::{io, sync::Arc};

use ostler_protocol::Access;
use ostler_stdx::AbsPath;
use ostler_tool::{Concurrency, OutputPage, OutputQuery, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{args::number, files::blocking, hands::Limits, plain::strip_controls};

/// Lines that one call may show.
const LINES: u64 = 2000;
/// Lines around a match.
const AROUND: u64 = 50;

/// Shows kept outputs.
#[derive(Debug)]
pub(crate) struct Output(pub(crate) Limits);

/// Arguments of Output.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The id that the cut result names.
    id: String,
    /// The first line, from 1 (default 1).
    #[serde(default, deserialize_with = "number")]
    offset: Option<u64>,
    /// How many lines (default 200, at most 2000).
    #[serde(default, deserialize_with = "number")]
    limit: Option<u64>,
    /// Only lines that match this regular expression.
    #[serde(default)]
    pattern: Option<String>,
    /// Lines to show around each match (default 0, at most 50).
    #[serde(default, deserialize_with = "number")]
    context: Option<u64>,
}

impl Tool for Output {
    const NAME: &'static str = "Output";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("output.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Reader
    }

    fn access(&self, _: &Args, _: &AbsPath) -> Vec<Access> {
        vec![Access::Nothing]
    }

    fn title(&self, args: &Args) -> String {
        match &args.pattern {
            Some(pattern) => format!("Search the output of {} for {pattern}", args.id),
            None => format!("Output of {}", args.id),
        }
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        let Some(store) = cx.outputs.store().map(Arc::clone) else {
            let text =
                "no outputs are kept in this session: run the tool again, for less at a time";
            return Err(ToolError::Tell(text.to_owned()));
        };
        let query = OutputQuery {
            offset: args.offset.unwrap_or(1).max(1),
            limit: args.limit.unwrap_or(200).clamp(1, LINES),
            pattern: args.pattern.clone().filter(|pattern| !pattern.is_empty()),
            context: args.context.unwrap_or(0).min(AROUND),
            max_bytes: self.0.shown_bytes,
            cancel: cx.cancel.clone(),
        };
        let page = blocking(&cx, move || {
            let page = store.page(&args.id, &query).map_err(|error| match error.kind() {
                io::ErrorKind::InvalidInput => {
                    ToolError::Tell(format!("the pattern is not a regular expression: {error}"))
                }
                io::ErrorKind::Interrupted => ToolError::Cancelled,
                _ => ToolError::Tell(format!("cannot read the output: {error}")),
            })?;
            let page = page.ok_or_else(|| {
                ToolError::Tell(format!(
                    "there is no output `{}` any more: run the tool again",
                    args.id
                ))
            })?;
            Ok(shown(&args.id, &query, &page))
        });
        page.await
    }
}

fn shown(id: &str, query: &OutputQuery, page: &OutputPage) -> ToolOutput {
    let mut text = String::new();
    let mut last = None;
    for (number, line) in &page.lines {
        if last.is_some_and(|last| last + 1 < *number) {
            text.push_str("--\n");
        }
        last = Some(*number);
        text.push_str(&format!("{number:>6}\t{}\n", strip_controls(line)));
    }
    let total = page.total_lines;
    if page.lines.is_empty() {
        text = match &query.pattern {
            Some(_) => format!("no line from {} on matches; there are {total} lines", query.offset),
            None => format!("there is no line {}: the output has {total} lines", query.offset),
        };
    }
    if let Some(next) = page.next {
        text.push_str(&format!(
            "[{total} lines, {} bytes in all: call again with offset {next} for more]",
            page.total_bytes
        ));
    }
    let structured = json!({
        "id": id,
        "content": text.trim_end(),
        "numLines": page.lines.len(),
        "totalLines": total,
        "totalBytes": page.total_bytes,
        "next": page.next,
    });
    ToolOutput::text(text.trim_end(), structured)
}
