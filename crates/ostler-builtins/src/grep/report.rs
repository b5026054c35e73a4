//! From what was found to what the model reads and what front ends get.

use std::fmt::Write as _;

use ostler_tool::ToolOutput;
use serde_json::{Map, Value, json};

use crate::{
    grep::{
        Args, Mode,
        collect::{Found, Inner, Room},
        lines::Shown,
    },
    hands::Hands,
    search::Search,
};

/// The window of entries that was asked for.
#[derive(Debug)]
pub(crate) struct Asked {
    offset: usize,
    /// `None`: as many as fit.
    limit: Option<usize>,
    bytes: usize,
}

impl Asked {
    pub(crate) fn new(args: &Args, hands: &Hands) -> Self {
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let limit = args.head_limit.map_or(hands.limits.grep_entries, number);
        Self {
            offset: args.offset.map_or(0, number),
            limit: (limit > 0).then_some(limit),
            bytes: hands.limits.shown_bytes,
        }
    }

    /// What is looked at, what is left out first included.
    pub(crate) fn room(&self) -> Room {
        let limit = self.limit.unwrap_or(self.bytes).min(self.bytes);
        // Without a bound on the offset the room would have none. A line costs at least
        // its ending; one more shows that there are more.
        let lines = limit.saturating_add(self.offset.min(100_000)).saturating_add(1);
        let bytes = if self.offset == 0 { self.bytes } else { usize::MAX };
        Room { lines, bytes }
    }

    /// Cuts the first of `total` entries to the window and to the cap on bytes; tells
    /// whether some are left behind it.
    fn cut(&self, entries: Vec<String>, total: usize) -> (Vec<String>, bool) {
        let mut bytes = 0;
        let shown: Vec<String> = entries
            .into_iter()
            .skip(self.offset)
            .take(self.limit.unwrap_or(usize::MAX))
            .take_while(|entry| {
                bytes += entry.len() + 1;
                bytes <= self.bytes
            })
            .collect();
        let more = self.offset + shown.len() < total;
        (shown, more)
    }
}

/// The output of a finished search.
pub(crate) fn report(found: Found, search: &Search, asked: &Asked) -> ToolOutput {
    let mode = found.mode;
    let inner = found.into_inner();
    let mut out = Map::new();
    let binary_matches = inner.binary_matches;
    let (mode_name, text, more, shown) = match mode {
        Mode::Content => content(inner, search, asked, &mut out),
        Mode::FilesWithMatches => files(inner, search, asked, &mut out),
        Mode::Count => counts(inner, search, asked, &mut out),
    };
    out.insert("mode".to_owned(), json!(mode_name));
    if more && let Some(limit) = asked.limit {
        out.insert("appliedLimit".to_owned(), json!(limit));
    }
    if asked.offset > 0 {
        out.insert("appliedOffset".to_owned(), json!(asked.offset));
    }
    let mut text = match shown {
        0 if binary_matches => "the file is binary and matches; its lines are not shown".to_owned(),
        0 if asked.offset == 0 => "no matches found".to_owned(),
        _ => text,
    };
    if more {
        let next = asked.offset + shown;
        let _infallible =
            write!(text, "\n[there is more: go on with offset {next}, or narrow the search]");
    }
    text.push_str(&search.notes("narrow the path or the pattern"));
    ToolOutput::text(text, Value::Object(out))
}

type Part = (&'static str, String, bool, usize);

fn files(inner: Inner, search: &Search, asked: &Asked, out: &mut Map<String, Value>) -> Part {
    let (files, total) = inner.files.into_sorted();
    let (names, more) = asked.cut(files.iter().map(|path| search.display(path)).collect(), total);
    out.insert("numFiles".to_owned(), json!(names.len()));
    out.insert("filenames".to_owned(), json!(names));
    let text = format!("{total} {} with matches\n{}", plural(total, "file"), names.join("\n"));
    ("files_with_matches", text, more, names.len())
}

fn counts(inner: Inner, search: &Search, asked: &Asked, out: &mut Map<String, Value>) -> Part {
    let (total, matches) = inner.counted;
    let entries =
        inner.counts.iter().map(|(path, count)| format!("{}:{count}", search.display(path)));
    let (lines, more) = asked.cut(entries.collect(), total);
    let content = lines.join("\n");
    out.insert("numFiles".to_owned(), json!(total));
    out.insert("filenames".to_owned(), json!([]));
    out.insert("content".to_owned(), json!(content));
    out.insert("numMatches".to_owned(), json!(matches));
    let text =
        format!("{content}\n\n{matches} matching lines in {total} {}", plural(total, "file"));
    ("count", text, more, lines.len())
}

fn content(inner: Inner, search: &Search, asked: &Asked, out: &mut Map<String, Value>) -> Part {
    let mut entries = Vec::new();
    let single = search.root.is_file();
    for (path, lines) in &inner.lines {
        let gaps = lines.iter().any(|line| matches!(line, Shown::Line(_, false, _) | Shown::Gap));
        if gaps && !entries.is_empty() {
            entries.push("--".to_owned());
        }
        let name = search.display(path);
        entries.extend(lines.iter().map(|line| entry(&name, line, single)));
    }
    let total = entries.len();
    let (lines, more) = asked.cut(entries, total);
    let content = lines.join("\n");
    let names: Vec<String> = inner.lines.keys().map(|path| search.display(path)).collect();
    out.insert("numFiles".to_owned(), json!(names.len()));
    out.insert("filenames".to_owned(), json!([]));
    out.insert("content".to_owned(), json!(content));
    out.insert("numLines".to_owned(), json!(lines.len()));
    ("content", content, more || inner.more, lines.len())
}

/// One line as ripgrep shows it; a search in one file need not repeat its name.
fn entry(name: &str, line: &Shown, single: bool) -> String {
    let Shown::Line(number, matched, text) = line else { return "--".to_owned() };
    let sign = if *matched { ':' } else { '-' };
    match (single, number) {
        (false, 0) => format!("{name}{sign}{text}"),
        (false, _) => format!("{name}{sign}{number}{sign}{text}"),
        (true, 0) => text.clone(),
        (true, _) => format!("{number}{sign}{text}"),
    }
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { noun.to_owned() } else { format!("{noun}s") }
}
