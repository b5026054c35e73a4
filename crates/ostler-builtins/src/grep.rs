//! Grep: lines of files by regular expression, with ripgrep's own parts. Memory is flat:
//! whatever the tree holds, only what is shown is kept.

mod collect;
mod lines;
mod report;

use std::{
    fs::File,
    io::{self, Read},
    time::Instant,
};

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use ignore::{WalkBuilder, WalkState, overrides::OverrideBuilder, types::TypesBuilder};
use ostler_protocol::Access;
use ostler_stdx::AbsPath;
use ostler_tool::{Concurrency, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    args::{absolute, flag, number},
    files::blocking,
    grep::{
        collect::{Found, Hit},
        lines::{Counter, Shape, Shower},
        report::{Asked, report},
    },
    hands::Hands,
    search::{Search, Stop, modified},
};

/// Bytes of one line, or of one file in a multi-line search, that are held at once.
const HEAP: usize = 16 << 20;
/// Bytes that a compiled pattern and its cache may take.
const REGEX: usize = 16 << 20;

/// Searches files.
#[derive(Debug)]
pub(crate) struct Grep(pub(crate) Hands);

/// What is shown of the matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    /// The matching lines.
    Content,
    /// The paths of files with a match, newest first.
    #[default]
    FilesWithMatches,
    /// The number of matching lines of each file.
    Count,
}

/// Arguments of Grep.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The regular expression (Rust syntax; escape braces that are meant literally).
    pattern: String,
    /// The file or folder to search (default: the working folder).
    #[serde(default)]
    path: Option<String>,
    /// Search only files that match this glob, such as `*.{ts,tsx}` or `!*.min.js`.
    #[serde(default, alias = "include")]
    glob: Option<String>,
    /// Search only files of this type, such as rust, js, py, go.
    #[serde(default, rename = "type")]
    kind: Option<String>,
    /// content shows lines, files_with_matches paths (default), count numbers.
    #[serde(default)]
    output_mode: Mode,
    /// Lines after each match (content only).
    #[serde(default, rename = "-A", deserialize_with = "number")]
    after: Option<u64>,
    /// Lines before each match (content only).
    #[serde(default, rename = "-B", deserialize_with = "number")]
    before: Option<u64>,
    /// Lines around each match (content only).
    #[serde(default, rename = "-C", deserialize_with = "number")]
    around: Option<u64>,
    /// The same as -C.
    #[serde(default, deserialize_with = "number")]
    context: Option<u64>,
    /// Show line numbers (content only; default true).
    #[serde(default, rename = "-n", deserialize_with = "flag")]
    numbers: Option<bool>,
    /// Ignore case.
    #[serde(default, rename = "-i", deserialize_with = "flag")]
    ignore_case: Option<bool>,
    /// Show only the matching part of lines (content only).
    #[serde(default, rename = "-o", deserialize_with = "flag")]
    only_matching: Option<bool>,
    /// Show at most this many lines or files (default 250; 0 means no limit but the caps).
    #[serde(default, deserialize_with = "number")]
    head_limit: Option<u64>,
    /// Leave out this many lines or files first (default 0).
    #[serde(default, deserialize_with = "number")]
    offset: Option<u64>,
    /// Let a match go over line ends, and `.` match them.
    #[serde(default, deserialize_with = "flag")]
    multiline: Option<bool>,
    /// Where a relative `path` starts, as other hosts send it.
    #[schemars(skip)]
    #[serde(default)]
    cwd: Option<String>,
}

impl Grep {
    fn root(&self, args: &Args, cwd: &AbsPath) -> AbsPath {
        let home = self.0.home.as_ref();
        let start =
            args.cwd.as_deref().map_or_else(|| cwd.clone(), |path| absolute(path, cwd, home));
        args.path.as_deref().map_or_else(|| start.clone(), |path| absolute(path, &start, home))
    }
}

impl Tool for Grep {
    const NAME: &'static str = "Grep";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("grep.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Reader
    }

    fn access(&self, args: &Args, cwd: &AbsPath) -> Vec<Access> {
        vec![Access::Search { root: self.root(args, cwd) }]
    }

    fn title(&self, args: &Args) -> String {
        match &args.path {
            Some(path) => format!("Grep {} in {path}", args.pattern),
            None => format!("Grep {}", args.pattern),
        }
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        let root = self.root(&args, &cx.cwd);
        let (hands, inner) = (self.0.clone(), cx.clone());
        blocking(&cx, move || grep(&root, &args, &hands, &inner)).await
    }
}

fn grep(root: &AbsPath, args: &Args, hands: &Hands, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    let begin = Instant::now();
    let matcher = matcher(args)?;
    let search = Search::new(root, hands, cx)?;
    let mut builder = search.walk(&search.root);
    choose_files(&mut builder, args, &search.root)?;
    let asked = Asked::new(args, hands);
    let found = Found::new(args.output_mode, asked.wanted(), hands.limits.shown_bytes);
    let (all, search) = (&found, &search);
    search.each(&builder, || {
        let mut one = OneFile {
            matcher: matcher.clone(),
            searcher: searcher(args),
            shape: shape(args),
            args,
            search,
        };
        move |entry: &ignore::DirEntry| {
            if all.takes(entry.path())
                && let Some(hit) = one.search(entry, all)
                && search.shows(entry.path())
            {
                all.add(entry.path(), hit);
            }
            WalkState::Continue
        }
    });
    if cx.cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    Ok(report(found, search, &asked, begin.elapsed()))
}

fn matcher(args: &Args) -> Result<RegexMatcher, ToolError> {
    let multiline = args.multiline == Some(true);
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(args.ignore_case == Some(true))
        .multi_line(true)
        .dot_matches_new_line(multiline)
        .size_limit(REGEX)
        .dfa_size_limit(REGEX);
    if !multiline {
        // Also makes `$` match before a CR.
        builder.crlf(true);
    }
    builder.build(&args.pattern).map_err(|error| {
        let hint = if !multiline && args.pattern.contains("\\n") {
            ". Set multiline to search over line ends"
        } else {
            ""
        };
        ToolError::Tell(format!("pattern `{}` cannot be searched: {error}{hint}", args.pattern))
    })
}

fn context(args: &Args) -> (usize, usize) {
    if args.output_mode != Mode::Content {
        return (0, 0);
    }
    let lines = |own: Option<u64>| {
        let lines = own.or(args.around).or(args.context).unwrap_or(0);
        usize::try_from(lines).unwrap_or(usize::MAX).min(1000)
    };
    (lines(args.before), lines(args.after))
}

fn searcher(args: &Args) -> Searcher {
    let (before, after) = context(args);
    let multiline = args.multiline == Some(true);
    let ending = if multiline { LineTerminator::byte(b'\n') } else { LineTerminator::crlf() };
    SearcherBuilder::new()
        .line_terminator(ending)
        .line_number(args.output_mode == Mode::Content)
        .before_context(before)
        .after_context(after)
        .multi_line(multiline)
        .binary_detection(BinaryDetection::quit(0))
        .memory_map(MmapChoice::never())
        .heap_limit(Some(HEAP))
        .build()
}

fn shape(args: &Args) -> Shape {
    Shape { numbers: args.numbers.unwrap_or(true), only_matching: args.only_matching == Some(true) }
}

fn choose_files(builder: &mut WalkBuilder, args: &Args, root: &AbsPath) -> Result<(), ToolError> {
    if let Some(globs) = &args.glob {
        let mut overrides = OverrideBuilder::new(root);
        for glob in split_globs(globs) {
            overrides.add(&glob).map_err(|error| {
                ToolError::Tell(format!("glob `{glob}` is not a glob: {error}"))
            })?;
        }
        let overrides = overrides
            .build()
            .map_err(|error| ToolError::Tell(format!("glob `{globs}` is not a glob: {error}")))?;
        builder.overrides(overrides);
    }
    if let Some(kind) = &args.kind {
        let mut types = TypesBuilder::new();
        types.add_defaults().select(kind);
        let types = types.build().map_err(|_| {
            ToolError::Tell(format!(
                "type `{kind}` is not known: give a glob such as `*.{kind}` instead"
            ))
        })?;
        builder.types(types);
    }
    Ok(())
}

/// Several globs stand between blanks or commas; a comma in braces is part of one.
fn split_globs(globs: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut depth = 0usize;
    for character in globs.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (character == ',' || character.is_whitespace()) {
            out.push(String::new());
        } else if let Some(last) = out.last_mut() {
            last.push(character);
        }
    }
    out.retain(|glob| !glob.is_empty());
    out
}

/// What one thread uses for all its files.
struct OneFile<'a> {
    matcher: RegexMatcher,
    searcher: Searcher,
    shape: Shape,
    args: &'a Args,
    search: &'a Search,
}

impl OneFile<'_> {
    fn search(&mut self, entry: &ignore::DirEntry, found: &Found) -> Option<Hit> {
        // A file that is gone or may not be read is passed over, as ripgrep does.
        let input = Stoppable { file: File::open(entry.path()).ok()?, stop: &self.search.stop };
        let (searcher, matcher) = (&mut self.searcher, &self.matcher);
        let hit = match self.args.output_mode {
            Mode::FilesWithMatches => {
                let mut counter = Counter::first();
                let done = searcher.search_reader(matcher, input, &mut counter);
                (done.map(|()| counter.matches > 0))
                    .map(|hit| hit.then(|| Hit::File(modified(entry))))
            }
            Mode::Count => {
                let mut counter = Counter::all();
                let done = searcher.search_reader(matcher, input, &mut counter);
                // Lines of a file that turns out to be binary do not count.
                done.map(|()| {
                    (counter.matches > 0 && !counter.binary).then_some(Hit::Count(counter.matches))
                })
            }
            Mode::Content => {
                let mut shower = Shower::new(matcher, self.shape, found.room());
                let done = searcher.search_reader(matcher, input, &mut shower);
                done.map(|()| shower.into_hit())
            }
        };
        match hit {
            Ok(hit) => hit,
            Err(error) => {
                if !self.search.stop.now() {
                    found.skipped(&error);
                }
                None
            }
        }
    }
}

/// A file whose reading ends when the search does, so that one of any length can be left.
struct Stoppable<'a> {
    file: File,
    stop: &'a Stop,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.now() {
            return Err(io::Error::other("stopped"));
        }
        self.file.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_split_outside_of_braces() {
        assert_eq!(split_globs("*.{ts,tsx} !a.ts,b/**"), ["*.{ts,tsx}", "!a.ts", "b/**"]);
        assert_eq!(split_globs(" , "), Vec::<String>::new());
    }
}
