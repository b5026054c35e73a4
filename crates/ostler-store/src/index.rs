//! The list of sessions: a SQLite file that is derived from both roots, follows them by
//! size and time of each log, and can be deleted or damaged at any time. It is opened by
//! the first list, never at start-up; where it cannot be kept, the logs are read each time.

mod database;
mod scan;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use ostler_protocol::Mode;
use ostler_stdx::AbsPath;

use crate::{
    slug::slug,
    store::{Located, Root, Store, is_session_id},
};
pub(crate) use database::Index;

/// A session in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// Its log.
    pub path: PathBuf,
    /// In which root it lies.
    pub root: Option<Root>,
    /// Its project folder, as the records say.
    pub project: Option<String>,
    /// The person's title, else a generated one, else the first prompt.
    pub title: String,
    /// Whether the person chose the title.
    pub titled: bool,
    /// First prompt, at most 200 characters.
    pub first_prompt: Option<String>,
    /// Newest prompt.
    pub last_prompt: Option<String>,
    /// Tag, if it has one.
    pub tag: Option<String>,
    /// First entry, ms since the epoch.
    pub created_ms: i64,
    /// Last change of the file, ms since the epoch.
    pub updated_ms: i64,
    /// Last entry, ms since the epoch.
    pub last_turn_ms: i64,
    /// Prompts, as far as they are known.
    pub turns: Option<u32>,
    /// Size of the log.
    pub bytes: u64,
    /// Provider, for sessions of ours.
    pub provider: Option<String>,
    /// The model that is pinned, else the one that answered last.
    pub model: Option<String>,
    /// Permission mode.
    pub mode: Option<Mode>,
    /// The door that wrote last, as transcripts call it.
    pub entrypoint: Option<String>,
    /// Whether a run began and has no end in the log: it runs, or was killed.
    pub open_run: bool,
    /// Whether it is archived.
    pub archived: bool,
    /// Whether another program wrote it.
    pub foreign: bool,
}

/// A log that could not be read as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The log.
    pub path: PathBuf,
    /// What is wrong with it.
    pub what: String,
}

/// Which sessions a list shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Those of one project alone.
    pub project: Option<AbsPath>,
    /// Those of one root alone.
    pub root: Option<Root>,
    /// Without those of other programs.
    pub ours: bool,
}

/// A list of sessions, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The sessions.
    pub rows: Vec<Row>,
    /// What is damaged; a damaged log costs at most its own row.
    pub problems: Vec<Problem>,
}

/// A log as it is known: its row, unless it is none to show, and what is wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) row: Option<Row>,
    pub(crate) problem: Option<String>,
}

/// What tells that a log changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) size: u64,
    pub(crate) modified_ns: i64,
}

#[derive(Debug)]
struct Found {
    id: String,
    path: PathBuf,
    root: Root,
    stamp: Stamp,
    archived: bool,
}

impl Store {
    /// Lists sessions, the newest first. Never fails: what cannot be read is a problem.
    #[must_use]
    pub fn list(&self, filter: &Filter) -> Listing {
        let mut listing = Listing::default();
        let found = self.walk(filter);
        let is_partial = filter.project.is_some() || filter.root.is_some();
        let known = self.index().known(&found, is_partial);
        let real = filter.project.as_ref().map(|path| {
            let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
            [path.to_text(), real.to_string_lossy().into_owned()]
        });
        for (found, known) in found.into_iter().zip(known) {
            if let Some(what) = known.problem {
                listing.problems.push(Problem { path: found.path.clone(), what });
            }
            let Some(mut row) = known.row else { continue };
            // The folder's name is not unique: the path in the records decides.
            let is_here = match (&real, &row.project) {
                (Some(names), Some(project)) => names.contains(project),
                _ => true,
            };
            if is_here && !(filter.ours && row.foreign) {
                row.archived = found.archived;
                listing.rows.push(row);
            }
        }
        listing.rows.sort_by(|a, b| b.updated_ms.cmp(&a.updated_ms).then_with(|| a.id.cmp(&b.id)));
        listing
    }

    /// Sessions with this title, whatever its case, the newest first.
    #[must_use]
    pub fn find_by_title(&self, title: &str) -> Vec<Located> {
        let wanted = title.trim().to_lowercase();
        let rows = self.list(&Filter::default()).rows.into_iter();
        let titled = rows.filter(|row| row.titled && row.title.trim().to_lowercase() == wanted);
        let located = titled.filter_map(|row| {
            let project_dir = row.path.parent()?.to_path_buf();
            Some(Located { id: row.id, path: row.path, root: row.root?, project_dir })
        });
        located.collect()
    }

    fn walk(&self, filter: &Filter) -> Vec<Found> {
        let roots = Root::ALL.into_iter().filter(|&root| filter.root.is_none_or(|r| r == root));
        let mut found = Vec::new();
        for root in roots {
            let folders = match &filter.project {
                Some(project) => self.project_folders(root, project),
                None => read_dir(&self.projects(root)),
            };
            for folder in folders {
                found_in(root, &folder, &mut found);
            }
        }
        found
    }

    fn project_folders(&self, root: Root, project: &AbsPath) -> Vec<PathBuf> {
        let real = fs::canonicalize(project).unwrap_or_else(|_| project.to_path_buf());
        let mut folders = self.project_dirs(root, &real);
        // A folder that was a link when the session began.
        let given = self.projects(root).join(slug(project));
        if !folders.contains(&given) {
            folders.push(given);
        }
        folders
    }
}

fn read_dir(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn found_in(root: Root, folder: &Path, found: &mut Vec<Found>) {
    let mut folders = HashMap::new();
    let start = found.len();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let Some(id) = name.strip_suffix(".jsonl") else {
            folders.insert(name.to_owned(), entry.path());
            continue;
        };
        let Ok(meta) = fs::metadata(entry.path()) else { continue };
        if !is_session_id(id) || !meta.is_file() {
            continue;
        }
        let modified_ns = meta.mtime().saturating_mul(1_000_000_000) + meta.mtime_nsec();
        found.push(Found {
            id: id.to_owned(),
            path: entry.path(),
            root,
            stamp: Stamp { size: meta.len(), modified_ns },
            archived: false,
        });
    }
    // Only a session with a folder of its own can be archived.
    for found in found.iter_mut().skip(start) {
        found.archived = folders.get(&found.id).is_some_and(|folder| is_archived(folder));
    }
}

fn is_archived(folder: &Path) -> bool {
    let read = fs::read(folder.join("archived.json")).ok();
    let mark = read.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    mark.is_some_and(|mark| mark.get("archived") == Some(&serde_json::Value::Bool(true)))
}
