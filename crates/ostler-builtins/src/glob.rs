//! Glob: files by name, newest first. Reads names and times only.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::DirEntry;
use ostler_protocol::Access;
use ostler_stdx::AbsPath;
use ostler_tool::{Concurrency, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    args::absolute,
    files::blocking,
    hands::Hands,
    search::{Newest, Search, Times, below, threads},
};

/// Finds files by name.
#[derive(Debug)]
pub(crate) struct Glob(pub(crate) Hands);

/// Arguments of Glob.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The pattern, such as `**/*.rs` or `src/**/*.{ts,tsx}`. Without a `/` it is matched
    /// against the names of files in all folders.
    pattern: String,
    /// The folder to search (default: the working folder).
    #[serde(default)]
    path: Option<String>,
    /// Where a relative `path` starts, as other hosts send it.
    #[schemars(skip)]
    #[serde(default)]
    cwd: Option<String>,
}

impl Glob {
    /// The folder to search and the pattern below it: the leading part of a pattern that
    /// has no wildcard is a folder.
    fn split(&self, args: &Args, cwd: &AbsPath) -> (AbsPath, String) {
        let home = self.0.home.as_ref();
        let start =
            args.cwd.as_deref().map_or_else(|| cwd.clone(), |path| absolute(path, cwd, home));
        let root =
            args.path.as_deref().map_or_else(|| start.clone(), |path| absolute(path, &start, home));
        let is_plain = |part: &str| !part.contains(['*', '?', '[', ']', '{', '}', '\\']);
        let outside = args.pattern.starts_with(['/', '~'])
            || args.pattern.split('/').any(|part| part == "..");
        if !outside {
            return (root, args.pattern.trim_start_matches("./").to_owned());
        }
        let parts: Vec<&str> = args.pattern.split('/').collect();
        let plain = parts[..parts.len() - 1].iter().take_while(|part| is_plain(part)).count();
        let base = parts[..plain].join("/");
        let base = if base.is_empty() && args.pattern.starts_with('/') { "/" } else { &base };
        // Anchored, so that the rest is not taken for a bare name.
        (absolute(base, &root, home), format!("/{}", parts[plain..].join("/")))
    }
}

impl Tool for Glob {
    const NAME: &'static str = "Glob";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("glob.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Reader
    }

    fn access(&self, args: &Args, cwd: &AbsPath) -> Vec<Access> {
        vec![Access::Search { root: self.split(args, cwd).0 }]
    }

    fn title(&self, args: &Args) -> String {
        match &args.path {
            Some(path) => format!("Glob {} in {path}", args.pattern),
            None => format!("Glob {}", args.pattern),
        }
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        let (root, pattern) = self.split(&args, &cx.cwd);
        let (hands, inner) = (self.0.clone(), cx.clone());
        blocking(&cx, move || glob(&root, &pattern, &hands, &inner)).await
    }
}

fn glob(
    asked: &AbsPath,
    pattern: &str,
    hands: &Hands,
    cx: &ToolCx,
) -> Result<ToolOutput, ToolError> {
    let begin = Instant::now();
    let pattern = Pattern::new(pattern)?;
    let search = Search::new(asked, hands, cx)?;
    let from = search.root.join(&pattern.folder);
    let keep = hands.limits.glob_files;
    let finds = Arc::new(Finds::new(pattern, search.clone(), keep));
    // A walk that starts at a link would follow it.
    if from.canonicalize().is_ok_and(|real| real == from.as_path()) {
        let all = Arc::clone(&finds);
        // Files are taken where their folder is listed and handed to nobody: that is
        // half the time of a walk.
        let mut builder = search.walk(&from, move |entry| all.takes(entry));
        builder.hidden(false);
        // The start itself was not listed anywhere.
        search.each(&builder, || {
            |entry: DirEntry| {
                let _told_by_the_stop = finds.takes(&entry);
            }
        });
    }
    if cx.cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    let (files, total) = finds.newest().into_sorted();
    let truncated = files.len() < total || search.stop.was_late();
    let names: Vec<String> = files.iter().map(|path| search.display(path)).collect();
    let mut text = if names.is_empty() { "no files found".to_owned() } else { names.join("\n") };
    if names.len() < total {
        let shown = names.len();
        text.push_str(&format!(
            "\n[the {shown} newest of {total} files: narrow the pattern or the path]"
        ));
    }
    text.push_str(&search.notes("narrow the path"));
    let structured = json!({
        "durationMs": u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX),
        "numFiles": names.len(),
        "filenames": names,
        "truncated": truncated,
    });
    Ok(ToolOutput::text(text, structured))
}

/// What the threads of a walk find. Each has a part of its own, by the number of the
/// thread, so that they rarely wait for each other.
struct Finds {
    pattern: Pattern,
    search: Search,
    parts: Vec<Mutex<Part>>,
}

struct Part {
    newest: Newest,
    times: Times,
    seen: u32,
    ended: bool,
}

impl Finds {
    fn new(pattern: Pattern, search: Search, keep: usize) -> Self {
        let part =
            || Part { newest: Newest::new(keep), times: Times::default(), seen: 0, ended: false };
        let parts = (0..threads()).map(|_| Mutex::new(part())).collect();
        Self { pattern, search, parts }
    }

    /// Notes a listed entry that is not a folder. Gives whether the walk should hear of
    /// it: only to be told to end.
    fn takes(&self, entry: &DirEntry) -> bool {
        entry.file_type().is_some_and(|kind| kind.is_file()) && self.look(entry.path())
    }

    fn look(&self, path: &Path) -> bool {
        let mut part =
            self.parts[slot() % self.parts.len()].lock().unwrap_or_else(PoisonError::into_inner);
        let part = &mut *part;
        part.seen = part.seen.wrapping_add(1);
        if part.seen.is_multiple_of(512) {
            part.ended = self.search.stop.now();
            self.search.pulse.saw(512);
        }
        if part.ended || !self.pattern.matches(path, &self.search.root) {
            return part.ended;
        }
        if self.search.shows(path) {
            match part.times.of(path) {
                Some(time) => part.newest.add(time, path),
                None => self.search.trouble.gone(path),
            }
        }
        false
    }

    fn newest(&self) -> Newest {
        let mut all: Option<Newest> = None;
        for part in &self.parts {
            let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
            let newest = std::mem::replace(&mut part.newest, Newest::new(0));
            match &mut all {
                Some(all) => all.merge(newest),
                None => all = Some(newest),
            }
        }
        all.unwrap_or_else(|| Newest::new(0))
    }
}

/// The number of this thread, among those that asked.
fn slot() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static SLOT: usize = NEXT.fetch_add(1, Ordering::Relaxed));
    SLOT.with(|slot| *slot)
}

struct Pattern {
    set: GlobSet,
    /// The leading folders without wildcards: nothing outside of them can match.
    folder: PathBuf,
}

impl Pattern {
    fn new(pattern: &str) -> Result<Self, ToolError> {
        let text = match pattern.contains('/') {
            true => pattern.trim_start_matches('/').to_owned(),
            // A bare name is looked for in all folders.
            false => format!("**/{pattern}"),
        };
        let no_glob = |error: globset::Error| {
            ToolError::Tell(format!("pattern `{pattern}` is not a glob: {}", error.kind()))
        };
        let glob = GlobBuilder::new(&text).literal_separator(true).backslash_escape(true).build();
        // A set knows endings and names, which needs no regular expression.
        let set = GlobSetBuilder::new().add(glob.map_err(no_glob)?).build().map_err(no_glob)?;
        let mut parts: Vec<&str> = text.split('/').collect();
        parts.pop();
        let is_plain =
            |part: &&&str| !part.is_empty() && !part.contains(['*', '?', '[', ']', '{', '}', '\\']);
        let folder = parts.iter().take_while(is_plain).collect();
        Ok(Self { set, folder })
    }

    fn matches(&self, path: &Path, root: &Path) -> bool {
        let below = below(path, root);
        let below = if below.is_empty() {
            path.file_name().unwrap_or_default()
        } else {
            OsStr::from_bytes(below)
        };
        self.set.is_match(below)
    }
}
