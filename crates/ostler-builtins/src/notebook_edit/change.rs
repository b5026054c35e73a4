//! The change of one cell, as a pure function from text to text.
//!
//! Every byte outside of the cell stays: unknown fields, order of keys, indentation.

use std::{fmt::Write as _, ops::Range};

use super::json::{Node, Parts};
use crate::text::ContentHash;

/// What to do with a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Replace,
    Insert,
    Delete,
}

/// What kind a cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Code,
    Markdown,
    Raw,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
            Self::Raw => "raw",
        }
    }

    fn of(name: &str) -> Option<Self> {
        [Self::Code, Self::Markdown, Self::Raw].into_iter().find(|kind| kind.name() == name)
    }
}

/// One change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change<'a> {
    pub(crate) mode: Mode,
    /// The cell to change, or the one after which to insert.
    pub(crate) cell: Option<&'a str>,
    pub(crate) source: &'a str,
    pub(crate) kind: Option<Kind>,
}

/// The changed notebook.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) text: String,
    /// The cell that was changed, inserted or deleted, as Read names it.
    pub(crate) cell: String,
    pub(crate) kind: Kind,
    pub(crate) language: String,
}

/// Applies a change; the error is for the model.
pub(crate) fn apply(text: &str, change: Change<'_>) -> Result<Changed, String> {
    let notebook = Notebook::read(text)?;
    let at = change.cell.map(|id| notebook.find(id)).transpose()?;
    let (edits, cell, kind) = match (change.mode, at) {
        (Mode::Insert, at) => {
            let kind = change.kind.unwrap_or(Kind::Code);
            let place = at.map_or(0, |at| at + 1);
            let id = notebook.new_id(change.source);
            let cell = notebook.render(change.source, kind, id.as_deref());
            let name = id.unwrap_or_else(|| format!("cell-{place}"));
            (vec![notebook.insert(place, &cell)], name, kind)
        }
        (_, None) => return Err("cell_id is missing: name the cell, as Read shows it".to_owned()),
        (Mode::Replace, Some(at)) => {
            let (edits, kind) = notebook.replace(at, change.source, change.kind)?;
            (edits, notebook.name(at), kind)
        }
        (Mode::Delete, Some(at)) => {
            (vec![(notebook.extent(at), String::new())], notebook.name(at), notebook.kind(at)?)
        }
    };
    let mut changed = text.to_owned();
    let mut edits = edits;
    edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    for (range, with) in edits {
        changed.replace_range(range, &with);
    }
    Ok(Changed { text: changed, cell, kind, language: notebook.language() })
}

type Edit = (Range<usize>, String);

struct Notebook<'a> {
    text: &'a str,
    root: Node,
    style: Style,
    has_ids: bool,
}

/// How the file is laid out.
#[derive(Debug, Clone)]
struct Style {
    /// The line break with the indentation of a cell; empty if all is on one line.
    cell: String,
    /// What one more level adds to it.
    unit: String,
    /// What stands behind a colon, and behind a comma where no line ends.
    colon: &'static str,
    comma: &'static str,
    /// Whether characters beyond ASCII are escaped.
    ascii: bool,
}

impl Style {
    fn level(&self, levels: usize) -> String {
        if self.cell.is_empty() {
            String::new()
        } else {
            self.cell.clone() + &self.unit.repeat(levels)
        }
    }

    fn string(&self, text: &str) -> String {
        let quoted = serde_json::Value::from(text).to_string();
        if !self.ascii {
            return quoted;
        }
        let mut out = String::with_capacity(quoted.len());
        for character in quoted.chars() {
            if character.is_ascii() {
                out.push(character);
            } else {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _infallible = write!(out, "\\u{unit:04x}");
                }
            }
        }
        out
    }

    /// A source as the list of its lines; `levels` below a cell.
    fn lines(&self, source: &str, levels: usize) -> String {
        let lines: Vec<String> =
            source.split_inclusive('\n').map(|line| self.string(line)).collect();
        self.list('[', ']', &lines, levels)
    }

    fn list(&self, open: char, close: char, items: &[String], levels: usize) -> String {
        if items.is_empty() {
            return format!("{open}{close}");
        }
        let (inner, outer) = (self.level(levels + 1), self.level(levels));
        let comma = if self.cell.is_empty() { self.comma } else { "" };
        let items = items.join(&format!(",{comma}{inner}"));
        format!("{open}{inner}{items}{outer}{close}")
    }
}

impl<'a> Notebook<'a> {
    fn read(text: &'a str) -> Result<Self, String> {
        let root = Node::parse(text).map_err(|error| {
            format!("it is no notebook: its JSON is damaged ({error}), repair it with Edit first")
        })?;
        let number = |key: &str| -> Option<u64> { text[root.get(key)?.span.clone()].parse().ok() };
        if number("nbformat") != Some(4) {
            return Err("it is no notebook of nbformat 4: convert it, for example with `jupyter nbconvert --to notebook`".to_owned());
        }
        let Some(Node { parts: Parts::Array(cells), .. }) = root.get("cells") else {
            return Err("it is no notebook: it has no list of cells".to_owned());
        };
        if let Some(at) = cells
            .iter()
            .position(|cell| cell.get("cell_type").is_none() || cell.get("source").is_none())
        {
            return Err(format!(
                "its cell {at} is damaged: it has no cell_type or no source, repair it with Edit first"
            ));
        }
        let style = style(text, &root, cells);
        let has_ids = number("nbformat_minor").is_some_and(|minor| minor >= 5);
        Ok(Self { text, root, style, has_ids })
    }

    fn list(&self) -> (&Range<usize>, &[Node]) {
        match self.root.get("cells") {
            Some(Node { span, parts: Parts::Array(cells) }) => (span, cells),
            _ => (&self.root.span, &[]),
        }
    }

    fn cells(&self) -> &[Node] {
        self.list().1
    }

    fn id(&self, at: usize) -> Option<String> {
        self.cells()[at].get("id")?.string(self.text)
    }

    fn name(&self, at: usize) -> String {
        self.id(at).unwrap_or_else(|| format!("cell-{at}"))
    }

    fn kind(&self, at: usize) -> Result<Kind, String> {
        let name = self.cells()[at].get("cell_type").and_then(|kind| kind.string(self.text));
        name.as_deref()
            .and_then(Kind::of)
            .ok_or_else(|| format!("its cell {at} is of an unknown type"))
    }

    /// The cell of an id, or of the name that Read gives to one without.
    fn find(&self, id: &str) -> Result<usize, String> {
        let of_id: Vec<usize> =
            (0..self.cells().len()).filter(|&at| self.id(at).as_deref() == Some(id)).collect();
        match of_id.as_slice() {
            [at] => return Ok(*at),
            [] => {}
            [first, second, ..] => {
                return Err(format!(
                    "two cells have the id `{id}` (numbers {first} and {second} from 0): give them different ids with Edit first"
                ));
            }
        }
        let number = id.strip_prefix("cell-").and_then(|number| number.parse().ok());
        number.filter(|&at: &usize| at < self.cells().len()).ok_or_else(|| {
            format!(
                "it has no cell `{id}` among its {} cells: read it again for their ids",
                self.cells().len()
            )
        })
    }

    fn language(&self) -> String {
        let metadata = self.root.get("metadata");
        let named = |outer: &str, inner: &str| metadata?.get(outer)?.get(inner)?.string(self.text);
        named("kernelspec", "language")
            .or_else(|| named("language_info", "name"))
            .unwrap_or_else(|| "python".to_owned())
    }

    /// An id for a new cell, where the format has them (nbformat 4.5).
    fn new_id(&self, source: &str) -> Option<String> {
        let taken: Vec<String> = (0..self.cells().len()).filter_map(|at| self.id(at)).collect();
        let candidates = (0u32..).map(|round| {
            let hash = ContentHash::of(format!("{round} {source}").as_bytes());
            format!("{:08x}", (hash >> 32) ^ hash & 0xffff_ffff)
        });
        self.has_ids.then(|| candidates.into_iter().find(|id| !taken.contains(id))).flatten()
    }

    /// A new cell, its keys in the order of the format's own writer.
    fn render(&self, source: &str, kind: Kind, id: Option<&str>) -> String {
        let style = &self.style;
        let entry = |key: &str, value: &str| format!("\"{key}\":{}{value}", style.colon);
        let mut entries = vec![entry("cell_type", &style.string(kind.name()))];
        if kind == Kind::Code {
            entries.push(entry("execution_count", "null"));
        }
        entries.extend(id.map(|id| entry("id", &style.string(id))));
        entries.push(entry("metadata", "{}"));
        if kind == Kind::Code {
            entries.push(entry("outputs", "[]"));
        }
        entries.push(entry("source", &style.lines(source, 1)));
        style.list('{', '}', &entries, 0)
    }

    fn insert(&self, place: usize, cell: &str) -> Edit {
        let (span, cells) = self.list();
        let gap = if self.style.cell.is_empty() {
            self.style.comma.to_owned()
        } else {
            self.style.level(0)
        };
        match (place.checked_sub(1).and_then(|before| cells.get(before)), cells.first()) {
            (Some(before), _) => (before.span.end..before.span.end, format!(",{gap}{cell}")),
            (None, Some(first)) => (first.span.start..first.span.start, format!("{cell},{gap}")),
            (None, None) => {
                let open = self.style.level(0);
                let close = open.strip_suffix(self.style.unit.as_str()).unwrap_or_default();
                (span.start + 1..span.end - 1, format!("{open}{cell}{close}"))
            }
        }
    }

    /// A cell with the comma that goes with it.
    fn extent(&self, at: usize) -> Range<usize> {
        let (span, cells) = self.list();
        let starts = cells.iter().map(|cell| cell.span.start).collect::<Vec<_>>();
        let ends = cells.iter().map(|cell| cell.span.end).collect::<Vec<_>>();
        extent(at, &starts, &ends, span)
    }

    fn replace(
        &self,
        at: usize,
        source: &str,
        kind: Option<Kind>,
    ) -> Result<(Vec<Edit>, Kind), String> {
        let cell = &self.cells()[at];
        let (was, style) = (self.kind(at)?, &self.style);
        let kind = kind.unwrap_or(was);
        let mut edits = Vec::new();
        let mut set = |key: &str, value: String| {
            if let Some(node) = cell.get(key) {
                edits.push((node.span.clone(), value));
                return true;
            }
            false
        };
        let old = cell.get("source").map(|node| (&node.parts, &self.text[node.span.clone()]));
        let new = match old {
            Some((Parts::Scalar, _)) => style.string(source),
            _ => style.lines(source, 1),
        };
        // The same text in another layout is left as it is.
        let value = |json: &str| serde_json::from_str::<serde_json::Value>(json).ok();
        if old.and_then(|(_, old)| value(old)) != value(&new) {
            set("source", new);
        }
        let mut missing = Vec::new();
        if kind == Kind::Code {
            for (key, empty) in [("execution_count", "null"), ("outputs", "[]")] {
                let is_empty = cell
                    .get(key)
                    .is_some_and(|node| value(&self.text[node.span.clone()]) == value(empty));
                if !is_empty && !set(key, empty.to_owned()) {
                    missing.push(format!("\"{key}\":{}{empty}", style.colon));
                }
            }
        }
        if kind != was {
            set("cell_type", style.string(kind.name()));
        }
        if let Some(first) = cell.entries().first()
            && !missing.is_empty()
        {
            let gap = if style.cell.is_empty() { style.comma.to_owned() } else { style.level(1) };
            let added: String = missing.iter().map(|entry| format!("{entry},{gap}")).collect();
            edits.push((first.start..first.start, added));
        }
        if kind != Kind::Code {
            // Other cells must not have these keys.
            let entries: Vec<_> = cell.entries().iter().collect();
            let starts: Vec<_> = entries.iter().map(|entry| entry.start).collect();
            let ends: Vec<_> = entries.iter().map(|entry| entry.value.span.end).collect();
            let gone: Vec<usize> = (0..entries.len())
                .filter(|&at| matches!(entries[at].key.as_str(), "execution_count" | "outputs"))
                .collect();
            // From the back; one that is last leaves after those before it are settled.
            let last_kept = (0..entries.len()).rev().find(|at| !gone.contains(at)).unwrap_or(0);
            for &at in gone.iter().filter(|&&at| at < last_kept) {
                edits.push((extent(at, &starts, &ends, &cell.span), String::new()));
            }
            if let Some(&end) = ends.last()
                && last_kept + 1 < entries.len()
            {
                edits.push((ends[last_kept]..end, String::new()));
            }
        }
        Ok((edits, kind))
    }
}

/// One of several items with the comma that goes with it.
fn extent(at: usize, starts: &[usize], ends: &[usize], list: &Range<usize>) -> Range<usize> {
    match (starts.get(at + 1), at.checked_sub(1)) {
        (Some(&next), _) => starts[at]..next,
        (None, Some(before)) => ends[before]..ends[at],
        (None, None) => list.start + 1..list.end - 1,
    }
}

fn style(text: &str, root: &Node, cells: &[Node]) -> Style {
    let gap = |from: usize, to: usize| {
        let gap = &text[from..to];
        gap.rfind('\n').map(|at| {
            let ending = if gap[..at].ends_with('\r') { "\r\n" } else { "\n" };
            (ending, &gap[at + 1..])
        })
    };
    let first_key = |node: &Node| {
        node.entries().first().and_then(|entry| gap(node.span.start + 1, entry.start))
    };
    let list = root.get("cells").map_or(0, |node| node.span.start + 1);
    let outer = first_key(root);
    let cell = cells.first().map_or_else(
        || outer.map(|(ending, unit)| format!("{ending}{}", unit.repeat(2))),
        |cell| gap(list, cell.span.start).map(|(ending, indent)| format!("{ending}{indent}")),
    );
    let cell = cell.unwrap_or_default();
    let inner = cells.first().and_then(first_key);
    let unit = match (inner, outer) {
        (Some((ending, inner)), _) => {
            inner.strip_prefix(cell.strip_prefix(ending).unwrap_or_default())
        }
        (None, Some((_, unit))) => Some(unit),
        (None, None) => None,
    };
    let after = |sign: &str| if text.contains(&format!("{sign} ")) { " " } else { "" };
    Style {
        cell,
        unit: unit.unwrap_or_default().to_owned(),
        colon: after("\":"),
        comma: after("\","),
        ascii: text.is_ascii() && text.contains("\\u"),
    }
}
