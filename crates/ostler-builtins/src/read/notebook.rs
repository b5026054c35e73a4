//! Jupyter notebooks as cells with their outputs (nbformat 4). A file that is no
//! notebook, whatever its name, is left to be shown as text.

use std::fmt::Write as _;

use ostler_stdx::{AbsPath, bound_middle};
use ostler_tool::ToolOutput;
use serde_json::{Value, json};

use crate::plain::strip_controls;

/// Bytes of one cell's outputs that are shown.
const OUTPUT: usize = 10_000;

/// The cells of a notebook, if `path` and `bytes` are one.
pub(crate) fn read(path: &AbsPath, bytes: &[u8], cap: usize) -> Option<ToolOutput> {
    if !path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("ipynb")) {
        return None;
    }
    let notebook: Value = serde_json::from_slice(bytes).ok()?;
    let language = notebook.pointer("/metadata/kernelspec/language").and_then(Value::as_str);
    let language = language
        .or_else(|| notebook.pointer("/metadata/language_info/name").and_then(Value::as_str));
    let cells = notebook.get("cells")?.as_array()?;
    let mut text = String::new();
    let mut structured = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        let id = cell
            .get("id")
            .and_then(Value::as_str)
            .map_or_else(|| format!("cell-{at}"), str::to_owned);
        let kind = cell.get("cell_type").and_then(Value::as_str).unwrap_or("code");
        let source = joined(cell.get("source"));
        let outputs: Vec<String> = cell
            .get("outputs")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(output)
            .collect();
        let outputs = bound_middle(&outputs.join("\n"), OUTPUT / 2, OUTPUT / 2, "").text;
        let _infallible = write!(text, "<cell id=\"{id}\" type=\"{kind}\">\n{source}\n</cell>\n");
        if !outputs.is_empty() {
            let _infallible = write!(text, "<output of=\"{id}\">\n{outputs}\n</output>\n");
        }
        let mut shown = json!({ "cellType": kind, "source": source, "cell_id": id });
        if kind == "code" {
            shown["language"] = json!(language.unwrap_or("python"));
            shown["execution_count"] = cell.get("execution_count").cloned().unwrap_or(Value::Null);
        }
        if !outputs.is_empty() {
            shown["outputs"] = json!([{ "output_type": "text", "text": outputs }]);
        }
        structured.push(shown);
    }
    let hint = "read the cells as JSON with a command in Bash";
    let text = bound_middle(&text, cap - cap / 4, cap / 4, hint).text;
    let text = if cells.is_empty() { "[the notebook has no cells]".to_owned() } else { text };
    let structured =
        json!({ "type": "notebook", "file": { "filePath": path.to_text(), "cells": structured } });
    Some(ToolOutput::text(text, structured))
}

/// Text that a notebook keeps as one string or as a list of lines.
fn joined(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn output(output: &Value) -> String {
    let text = match output.get("output_type").and_then(Value::as_str) {
        Some("stream") => joined(output.get("text")),
        Some("error") => match output.get("traceback").and_then(Value::as_array) {
            Some(lines) => lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"),
            None => joined(output.get("evalue")),
        },
        _ => {
            let data = output.get("data").and_then(Value::as_object);
            let plain = data.and_then(|data| data.get("text/plain")).map(|text| joined(Some(text)));
            let others = data
                .into_iter()
                .flatten()
                .map(|(kind, _)| kind.as_str())
                .filter(|kind| kind.starts_with("image/"));
            let pictures = others.map(|kind| format!("[{kind} not shown]"));
            plain.into_iter().chain(pictures).collect::<Vec<_>>().join("\n")
        }
    };
    strip_controls(text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_shown_with_their_outputs() {
        let notebook = json!({
            "metadata": { "kernelspec": { "language": "julia" } },
            "cells": [
                { "cell_type": "markdown", "id": "m", "source": ["# Title\n", "text"] },
                { "cell_type": "code", "source": "1 + 1", "execution_count": 3, "outputs": [
                    { "output_type": "stream", "text": "hi\n" },
                    { "output_type": "execute_result", "data": { "text/plain": ["2"], "image/png": "AAAA" } },
                    { "output_type": "error", "traceback": ["\u{1b}[31mboom\u{1b}[0m"] },
                ] },
            ],
        });
        let path = AbsPath::root().join("a.ipynb");
        let output = read(&path, notebook.to_string().as_bytes(), 50_000).unwrap();
        let text = format!("{:?}", output.content);
        for part in ["# Title\\ntext", "1 + 1", "hi\\n2\\n[image/png not shown]\\nboom"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_eq!(output.structured["file"]["cells"][1]["language"], "julia");
        assert_eq!(output.structured["file"]["cells"][1]["cell_id"], "cell-1");
        assert!(read(&path, b"{}", 50_000).is_none());
        assert!(
            read(&AbsPath::root().join("a.json"), notebook.to_string().as_bytes(), 50_000)
                .is_none()
        );
    }
}
