//! The tree of a folder within a cap: which folders are opened, and how it is shown.

use std::{
    collections::{HashSet, VecDeque},
    ffi::{OsStr, OsString},
    fmt::Write as _,
    fs::DirEntry,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use globset::GlobSet;
use ostler_stdx::AbsPath;
use ostler_tool::ToolOutput;
use serde_json::json;

use crate::{
    plain::one_line,
    search::{Search, below},
};

/// Names of one folder that are looked at; of more only the number is known.
const FOLDER: usize = 10_000;
/// Characters of a name that are shown.
const NAME: usize = 255;

/// What a folder holds.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    top: Vec<usize>,
    /// How many are listed at most.
    cap: usize,
    /// Entries left out because of the cap, in folders that were looked at.
    more: usize,
    /// Entries left out by ignore files, and because of a dot.
    ignored: usize,
    hidden: usize,
}

#[derive(Debug)]
struct Node {
    path: PathBuf,
    kind: Kind,
    children: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// What is known of what is in it.
    Folder(Inside),
    File(u64),
    Link,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Listed,
    NotOpened,
    /// So many, none of them listed.
    Entries(usize),
}

/// One folder, looked at.
#[derive(Debug, Default)]
struct Level {
    entries: Vec<(Kind, PathBuf)>,
    more: usize,
    hidden: usize,
    ignored: usize,
}

impl Tree {
    /// Opens folders level by level, so that the upper ones are whole before the lower
    /// ones are begun. A folder is listed wholly or not at all, but for the first.
    pub(crate) fn read(search: &Search, ignore: &GlobSet, cap: usize) -> Self {
        let mut tree =
            Self { nodes: Vec::new(), top: Vec::new(), cap, more: 0, ignored: 0, hidden: 0 };
        let mut level = read_level(search, search.root.as_path(), ignore);
        let first = level.entries.len();
        level.entries.truncate(cap);
        tree.more = first - level.entries.len() + level.more;
        let mut open = VecDeque::new();
        tree.top = tree.add(level, &mut open);
        while let Some(at) = open.pop_front() {
            if tree.nodes.len() >= cap || search.stop.now() {
                break;
            }
            let level = read_level(search, &tree.nodes[at].path, ignore);
            let count = level.entries.len() + level.more;
            if tree.nodes.len() + count > cap {
                tree.nodes[at].kind = Kind::Folder(Inside::Entries(count));
                continue;
            }
            tree.nodes[at].kind = Kind::Folder(Inside::Listed);
            tree.nodes[at].children = tree.add(level, &mut open);
        }
        tree
    }

    fn add(&mut self, level: Level, open: &mut VecDeque<usize>) -> Vec<usize> {
        self.hidden += level.hidden;
        self.ignored += level.ignored;
        let from = self.nodes.len();
        for (kind, path) in level.entries {
            if kind == Kind::Folder(Inside::NotOpened) {
                open.push_back(self.nodes.len());
            }
            self.nodes.push(Node { path, kind, children: Vec::new() });
        }
        (from..self.nodes.len()).collect()
    }

    /// The tree as the model reads it, and its entries for front ends.
    pub(crate) fn report(&self, search: &Search, folder: &AbsPath) -> ToolOutput {
        let mut text = format!("{folder}/\n");
        let mut entries = Vec::new();
        self.show(&self.top, 1, search, &mut text, &mut entries);
        if self.nodes.is_empty() {
            text.push_str("  (nothing to list)\n");
        }
        let mut notes = Vec::new();
        if self.more > 0 {
            notes.push(format!("{} more entries: list a folder below, or use Glob", self.more));
        }
        if self.hidden > 0 {
            notes.push(format!("{} hidden (names with a leading dot)", self.hidden));
        }
        if self.ignored > 0 {
            notes.push(format!("{} left out by ignore rules", self.ignored));
        }
        for note in &notes {
            let _infallible = writeln!(text, "[{note}]");
        }
        let text = format!("{}{}", text.trim_end(), search.notes("list a folder below"));
        let structured = json!({
            "path": folder.to_text(),
            "entries": entries,
            "numEntries": entries.len(),
            "numHidden": self.hidden,
            "numIgnored": self.ignored,
            "truncated": self.more > 0 || self.has_closed() || search.stop.was_late(),
        });
        ToolOutput::text(text, structured)
    }

    fn has_closed(&self) -> bool {
        let closed = |node: &Node| match node.kind {
            Kind::Folder(inside) => !matches!(inside, Inside::Listed | Inside::Entries(0)),
            _ => false,
        };
        self.nodes.len() >= self.cap || self.nodes.iter().any(closed)
    }

    fn show(
        &self,
        list: &[usize],
        depth: usize,
        search: &Search,
        text: &mut String,
        entries: &mut Vec<serde_json::Value>,
    ) {
        for node in list.iter().map(|&at| &self.nodes[at]) {
            let name = name(&node.path);
            let (kind, mark) = match node.kind {
                Kind::Folder(Inside::Entries(count)) => ("folder", format!("/  ({count} entries)")),
                Kind::Folder(_) => ("folder", "/".to_owned()),
                Kind::File(bytes) => ("file", format!("  {}", size(bytes))),
                Kind::Link => ("link", "  (link)".to_owned()),
                Kind::Other => ("other", "  (device, pipe or socket)".to_owned()),
            };
            let _infallible = writeln!(text, "{:1$}{name}{mark}", "", depth * 2);
            let mut entry = json!({"path": search.display(&node.path), "type": kind});
            if let Kind::File(bytes) = node.kind {
                entry["size"] = json!(bytes);
            }
            entries.push(entry);
            self.show(&node.children, depth + 1, search, text, entries);
        }
    }
}

/// Lists one folder: folders first, then by name.
fn read_level(search: &Search, folder: &Path, ignore: &GlobSet) -> Level {
    let mut level = Level::default();
    let names = match std::fs::read_dir(folder) {
        Ok(entries) => entries.flatten(),
        Err(error) => {
            search.trouble.file(folder, &error);
            return level;
        }
    };
    let mut all: Vec<_> = names.take(FOLDER + 1).collect();
    let passed = (all.len() <= FOLDER).then(|| passed(search, folder));
    if all.len() > FOLDER {
        // Nobody lists so many by hand; how many there are is worth saying.
        all.truncate(FOLDER);
        level.more = std::fs::read_dir(folder).map_or(0, Iterator::count).saturating_sub(FOLDER);
    }
    for entry in all {
        let (path, file_name) = (entry.path(), entry.file_name());
        let is_ignored = || {
            passed.as_ref().is_some_and(|passed| !passed.contains(&file_name))
                || ignore.is_match(OsStr::from_bytes(below(&path, &search.root)))
        };
        if file_name.as_encoded_bytes().starts_with(b".") {
            level.hidden += 1;
        } else if is_ignored() {
            level.ignored += 1;
        } else if search.shows(&path) {
            level.entries.push((kind(&entry), path));
        }
    }
    level.entries.sort_unstable_by(|a, b| {
        let is_file = |kind: Kind| !matches!(kind, Kind::Folder(_));
        (is_file(a.0), &a.1).cmp(&(is_file(b.0), &b.1))
    });
    level
}

/// The names in a folder that ignore files let through.
fn passed(search: &Search, folder: &Path) -> HashSet<OsString> {
    let mut walk = search.walk(folder, |_| true);
    walk.hidden(false).max_depth(Some(1));
    let entries = walk.build().flatten().filter(|entry| entry.depth() > 0);
    entries.map(|entry| entry.file_name().to_owned()).collect()
}

fn kind(entry: &DirEntry) -> Kind {
    match entry.file_type() {
        Ok(kind) if kind.is_dir() => Kind::Folder(Inside::NotOpened),
        // Of the entry itself, also where a link took its place since.
        Ok(kind) if kind.is_file() => Kind::File(entry.metadata().map_or(0, |meta| meta.len())),
        Ok(kind) if kind.is_symlink() => Kind::Link,
        _ => Kind::Other,
    }
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    one_line(&name.chars().take(NAME).collect::<String>())
}

fn size(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one digit behind the point is shown")]
    let in_units = |unit: u64| bytes as f64 / unit as f64;
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KB", in_units(1 << 10)),
        1_048_576..1_073_741_824 => format!("{:.1} MB", in_units(1 << 20)),
        _ => format!("{:.1} GB", in_units(1 << 30)),
    }
}
