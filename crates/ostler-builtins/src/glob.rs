//! Glob: files by name, newest first. Reads names and times only.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Instant,
};

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkState;
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
    search::{Search, modified, newest_first},
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
    let search = Search::new(asked, hands, cx)?;
    let pattern = Pattern::new(pattern)?;
    let from = search.root.join(&pattern.folder);
    let found = Mutex::new(Vec::new());
    // A walk that starts at a link would follow it.
    if from.canonicalize().is_ok_and(|real| real == from.as_path()) {
        let mut builder = search.walk(&from);
        builder.hidden(false);
        let worker = || {
            |entry: &ignore::DirEntry| {
                if pattern.matches(entry.path(), &search.root) && search.shows(entry.path()) {
                    let file = (modified(entry), search.display(entry.path()));
                    found.lock().unwrap_or_else(PoisonError::into_inner).push(file);
                }
                WalkState::Continue
            }
        };
        search.each(&builder, worker);
    }
    if cx.cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    let mut files = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    newest_first(&mut files);
    let total = files.len();
    files.truncate(hands.limits.glob_files);
    let truncated = files.len() < total || search.stop.was_late();
    let names: Vec<String> = files.into_iter().map(|(_, name)| name).collect();
    let mut text = if names.is_empty() { "no files found".to_owned() } else { names.join("\n") };
    if names.len() < total {
        text.push_str(&format!(
            "\n[the {} newest of {total} files: narrow the pattern or the path]",
            names.len()
        ));
    }
    if search.stop.was_late() {
        text.push_str(
            "\n[the search was ended after its time: there may be more files, narrow the path]",
        );
    }
    let structured = json!({
        "durationMs": u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX),
        "numFiles": names.len(),
        "filenames": names,
        "truncated": truncated,
    });
    Ok(ToolOutput::text(text, structured))
}

struct Pattern {
    matcher: GlobMatcher,
    /// The leading folders without wildcards: nothing outside of them can match.
    folder: PathBuf,
    /// Whether only the file's name is matched.
    by_name: bool,
}

impl Pattern {
    fn new(pattern: &str) -> Result<Self, ToolError> {
        let by_name = !pattern.contains('/');
        let pattern = pattern.trim_start_matches('/');
        let glob = GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build();
        let matcher = glob
            .map_err(|error| {
                ToolError::Tell(format!("pattern `{pattern}` is not a glob: {error}"))
            })?
            .compile_matcher();
        let mut parts: Vec<&str> = pattern.split('/').collect();
        parts.pop();
        let is_plain =
            |part: &&&str| !part.is_empty() && !part.contains(['*', '?', '[', ']', '{', '}', '\\']);
        let folder = parts.iter().take_while(is_plain).collect();
        Ok(Self { matcher, folder, by_name })
    }

    fn matches(&self, path: &Path, root: &Path) -> bool {
        if self.by_name {
            return path.file_name().is_some_and(|name| self.matcher.is_match(name));
        }
        path.strip_prefix(root).is_ok_and(|below| self.matcher.is_match(below))
    }
}
