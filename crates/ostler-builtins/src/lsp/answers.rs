//! From what a server answered to what the model reads and what front ends get: lines as
//! `path:line:character: source`, within caps. Reads files for their lines, each through
//! the gate; blocks.

use std::fmt::Write as _;

use ostler_stdx::AbsPath;
use ostler_tool::ToolOutput;
use serde_json::{Map, Value, json};

use crate::{
    args::shown,
    disk::Place,
    hands::Hands,
    lsp::{
        Operation,
        documents::Source,
        operations::Answered,
        path_of,
        position::{Lines, character},
    },
};

/// Entries that are shown.
const ENTRIES: usize = 100;
/// Entries of one file's outline.
const SYMBOLS: usize = 500;
/// Files that are read for their lines.
const FILES: usize = 100;
/// Characters of a source line, and of what a server says about it.
const LINE: usize = 200;
const SAID: usize = 600;
/// Levels of an outline.
const DEPTH: usize = 32;

/// A place in some file, as the server gave it.
#[derive(Debug)]
struct At {
    uri: String,
    /// Line and unit from 0, of start and end.
    start: (u64, u64),
    end: (u64, u64),
}

/// One line of the answer.
#[derive(Debug)]
struct Entry {
    at: At,
    depth: usize,
    /// What stands behind the place: the source line if this is none.
    said: Option<String>,
    more: Map<String, Value>,
}

/// The output of a call.
pub(super) fn report(
    operation: Operation,
    answered: Answered,
    hands: &Hands,
    cwd: &AbsPath,
) -> ToolOutput {
    let Answered { result, file, server, busy, silent } = answered;
    let own = file.as_ref().map(super::uri).unwrap_or_default();
    let mut structured = json!({"server": server});
    let mut text;
    if operation == Operation::Hover {
        text = hover(&result, hands.limits.shown_bytes.min(8000));
        structured["text"] = json!(text);
        if text.is_empty() {
            "nothing is known about this place".clone_into(&mut text);
        }
    } else {
        let cap = if operation == Operation::DocumentSymbol { SYMBOLS } else { ENTRIES };
        let mut entries = entries(operation, &result, &own);
        let total = entries.len();
        entries.truncate(cap);
        let mut writer = Writer::new(hands, cwd);
        for entry in &entries {
            writer.write(entry);
        }
        let left_out = total - writer.shown - writer.refused;
        text = writer.text;
        if total == 0 {
            "no results".clone_into(&mut text);
        }
        if left_out > 0 {
            let _infallible = write!(text, "\n[{left_out} more: narrow the question]");
        }
        if writer.refused > 0 {
            let _infallible =
                write!(text, "\n[{} more in files that may not be read]", writer.refused);
        }
        structured["results"] = Value::Array(writer.results);
        structured["truncated"] = json!(left_out > 0);
    }
    if silent {
        let _infallible =
            write!(text, "\n[{server} published nothing about this file yet: ask again]");
    }
    if let Some(work) = busy {
        let _infallible = write!(
            text,
            "\n[{server} is still at work ({work}): results may be missing, ask again]"
        );
        structured["busy"] = json!(work);
    }
    ToolOutput::text(text.trim_start().to_owned(), structured)
}

/// Writes entries as lines, and reads the source of each file once.
struct Writer<'a> {
    hands: &'a Hands,
    cwd: AbsPath,
    text: String,
    results: Vec<Value>,
    shown: usize,
    refused: usize,
    read: usize,
    /// The file at hand, and its text if it may be read.
    file: Option<(String, Option<Source>)>,
}

impl<'a> Writer<'a> {
    fn new(hands: &'a Hands, cwd: &AbsPath) -> Self {
        let cwd = Place::resolve(cwd).unwrap_or_else(|_| cwd.clone());
        Self {
            hands,
            cwd,
            text: String::new(),
            results: Vec::new(),
            shown: 0,
            refused: 0,
            read: 0,
            file: None,
        }
    }

    fn write(&mut self, entry: &Entry) {
        if self.text.len() > self.hands.limits.shown_bytes {
            return;
        }
        let path = path_of(&entry.at.uri);
        if path.as_ref().is_some_and(|path| !self.hands.gate.shows(path.as_path())) {
            self.refused += 1;
            return;
        }
        if self.file.as_ref().is_none_or(|(uri, _)| *uri != entry.at.uri) {
            self.read += 1;
            let readable = path.as_ref().filter(|_| self.read <= FILES);
            let source = readable.and_then(|path| Source::read(path, self.hands).ok());
            self.file = Some((entry.at.uri.clone(), source));
        }
        let source = self.file.as_ref().and_then(|(_, source)| source.as_ref());
        let lines = source.map(|source| Lines::new(&source.text));
        let line_of = |line: u64| lines.as_ref().and_then(|lines| lines.get(line));
        let place = |(line, units): (u64, u64)| {
            (line + 1, line_of(line).map_or(units + 1, |text| character(text, units)))
        };
        let ((line, column), (end_line, end_column)) = (place(entry.at.start), place(entry.at.end));
        let name = path.map_or_else(|| entry.at.uri.clone(), |path| shown(&path, &self.cwd));
        let own_line = cut(line_of(entry.at.start.0).unwrap_or_default().trim(), LINE);
        let said = entry.said.as_deref().unwrap_or(&own_line);
        let _infallible =
            write!(self.text, "\n{:1$}{name}:{line}:{column}: {said}", "", entry.depth * 2);
        let mut result = entry.more.clone();
        for (key, value) in [
            ("path", json!(name)),
            ("line", json!(line)),
            ("character", json!(column)),
            ("endLine", json!(end_line)),
            ("endCharacter", json!(end_column)),
            ("text", json!(own_line)),
        ] {
            result.insert(key.to_owned(), value);
        }
        self.results.push(Value::Object(result));
        self.shown += 1;
    }
}

fn entries(operation: Operation, result: &Value, own: &str) -> Vec<Entry> {
    let mut list: Vec<&Value> = match result {
        Value::Array(list) => list.iter().collect(),
        Value::Object(_) => vec![result],
        _ => Vec::new(),
    };
    if operation == Operation::DocumentSymbol {
        list.sort_by_key(|item| start_of(item));
    }
    let mut entries = Vec::new();
    for item in list {
        match operation {
            Operation::DocumentSymbol | Operation::WorkspaceSymbol => {
                symbols(item, own, 0, &mut entries);
            }
            Operation::Diagnostics => entries.extend(finding(item, own)),
            _ => entries.extend(place(item, own).map(|at| Entry {
                at,
                depth: 0,
                said: None,
                more: Map::new(),
            })),
        }
    }
    if operation == Operation::References {
        // Together by file, so that each is read once.
        entries.sort_by(|a, b| (&a.at.uri, a.at.start).cmp(&(&b.at.uri, b.at.start)));
    }
    if operation == Operation::Diagnostics {
        entries.sort_by_key(|entry| (entry.more["severity"] != "error", entry.at.start));
    }
    entries
}

/// A `Location` or a `LocationLink`.
fn place(item: &Value, own: &str) -> Option<At> {
    let uri = ["targetUri", "uri"].iter().find_map(|key| item[*key].as_str()).unwrap_or(own);
    let range = ["targetSelectionRange", "targetRange", "selectionRange", "range"]
        .iter()
        .find_map(|key| item.get(*key))?;
    let point = |point: &Value| Some((point["line"].as_u64()?, point["character"].as_u64()?));
    let start = point(&range["start"])?;
    // The protocol counts in 31 bits; more is nonsense that must not overflow here.
    let bounded = |at: (u64, u64)| (at.0.min(1 << 31), at.1.min(1 << 31));
    let end = point(&range["end"]).unwrap_or(start);
    Some(At { uri: uri.to_owned(), start: bounded(start), end: bounded(end) })
}

/// Where a symbol begins: servers list them in orders of their own.
fn start_of(item: &Value) -> (u64, u64) {
    let location = if item["location"].is_object() { &item["location"] } else { item };
    place(location, "").map_or((0, 0), |at| at.start)
}

/// A `DocumentSymbol` with what is in it, a `SymbolInformation` or a `WorkspaceSymbol`.
fn symbols(item: &Value, own: &str, depth: usize, entries: &mut Vec<Entry>) {
    if depth > DEPTH || entries.len() > 100_000 {
        return;
    }
    let location = if item["location"].is_object() { &item["location"] } else { item };
    let nowhere = || {
        let uri = location["uri"].as_str()?.to_owned();
        Some(At { uri, start: (0, 0), end: (0, 0) })
    };
    if let Some(at) = place(location, own).or_else(nowhere) {
        let name = cut(item["name"].as_str().unwrap_or_default(), LINE);
        let kind = kind(item["kind"].as_u64().unwrap_or(0));
        let mut said = format!("{kind} {name}");
        let detail = item["detail"].as_str().filter(|detail| !detail.is_empty());
        if let Some(detail) = detail {
            let _infallible = write!(said, " {}", cut(detail, LINE));
        }
        let container = item["containerName"].as_str().filter(|name| !name.is_empty());
        if let Some(container) = container {
            let _infallible = write!(said, " (in {})", cut(container, LINE));
        }
        let mut more = Map::new();
        more.insert("name".to_owned(), json!(name));
        more.insert("kind".to_owned(), json!(kind));
        more.insert("depth".to_owned(), json!(depth));
        entries.push(Entry { at, depth, said: Some(said), more });
    }
    let mut children: Vec<_> = item["children"].as_array().into_iter().flatten().collect();
    children.sort_by_key(|item| start_of(item));
    for child in children {
        symbols(child, own, depth + 1, entries);
    }
}

/// A `Diagnostic`.
fn finding(item: &Value, own: &str) -> Option<Entry> {
    let at = place(item, own)?;
    let severity = match item["severity"].as_u64() {
        Some(2) => "warning",
        Some(3) => "information",
        Some(4) => "hint",
        _ => "error",
    };
    let message = cut(item["message"].as_str().unwrap_or_default().trim(), SAID);
    let code = match &item["code"] {
        Value::String(code) => code.clone(),
        Value::Number(code) => code.to_string(),
        _ => String::new(),
    };
    let source = item["source"].as_str().unwrap_or_default();
    let mut said = format!("{severity}: {}", message.replace('\n', "\n    "));
    let label = [source, &code].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    if !label.is_empty() {
        let _infallible = write!(said, " [{}]", cut(&label.join(" "), LINE));
    }
    let mut more = Map::new();
    more.insert("severity".to_owned(), json!(severity));
    more.insert("message".to_owned(), json!(message));
    more.insert("code".to_owned(), json!(code));
    more.insert("source".to_owned(), json!(source));
    Some(Entry { at, depth: 0, said: Some(said), more })
}

/// The text of a `Hover`: marked up, plain, or a list of both.
fn hover(result: &Value, cap: usize) -> String {
    fn text(content: &Value, out: &mut Vec<String>) {
        match content {
            Value::String(text) => out.push(text.clone()),
            Value::Array(list) => list.iter().for_each(|one| text(one, out)),
            Value::Object(one) => {
                let value = one.get("value").and_then(Value::as_str).unwrap_or_default();
                out.push(match one.get("language").and_then(Value::as_str) {
                    Some(language) => format!("```{language}\n{value}\n```"),
                    None => value.to_owned(),
                });
            }
            _ => {}
        }
    }
    let mut parts = Vec::new();
    text(&result["contents"], &mut parts);
    let whole = parts.join("\n\n");
    let whole = whole.trim();
    let end = ostler_stdx::floor_char_boundary(whole, cap);
    match whole.len() - end {
        0 => whole.to_owned(),
        left => format!("{}\n[{left} bytes left out]", &whole[..end]),
    }
}

fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}\u{2026}", &text[..end]),
        None => text.to_owned(),
    }
}

/// `SymbolKind` of the protocol.
fn kind(number: u64) -> &'static str {
    const KINDS: [&str; 26] = [
        "file",
        "module",
        "namespace",
        "package",
        "class",
        "method",
        "property",
        "field",
        "constructor",
        "enum",
        "interface",
        "function",
        "variable",
        "constant",
        "string",
        "number",
        "boolean",
        "array",
        "object",
        "key",
        "null",
        "enum member",
        "struct",
        "event",
        "operator",
        "type parameter",
    ];
    let at = usize::try_from(number).unwrap_or(0).checked_sub(1);
    at.and_then(|at| KINDS.get(at)).copied().unwrap_or("symbol")
}
