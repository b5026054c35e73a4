//! Grep: lines of files by regular expression, with ripgrep's own parts. Memory is flat:
//! whatever the tree holds, only what is shown is kept.

mod collect;
mod explain;
mod input;
mod lines;
mod report;
mod segments;

use std::{io, path::Path, time::Duration};

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use ignore::{DirEntry, WalkBuilder, overrides::OverrideBuilder, types::TypesBuilder};
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
        explain::explain,
        input::{Input, Scratch},
        lines::{Counter, Judge, Shape, Shower},
        report::{Asked, report},
        segments::Segments,
    },
    hands::Hands,
    search::Search,
};

/// Bytes of lines that are held at once; longer lines come in pieces.
const HEAP: usize = 2 << 20;
/// Bytes that a compiled pattern may take, and each of its caches.
const REGEX: usize = 8 << 20;
/// What a search gets after its time, for the piece that it is at.
const GRACE: Duration = Duration::from_secs(2);

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
        let time = Duration::from_millis(hands.limits.search_ms) + GRACE;
        let pattern = args.pattern.clone();
        tokio::select! {
            done = blocking(&cx, move || grep(&root, &args, &hands, &inner)) => done,
            () = tokio::time::sleep(time) => Err(ToolError::Tell(format!(
                "pattern `{pattern}` takes too long: search for a plain part of it, or use smaller numbers of repetitions"
            ))),
        }
    }
}

fn grep(root: &AbsPath, args: &Args, hands: &Hands, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    let matcher = matcher(args)?;
    let search = Search::new(root, hands, cx)?;
    let mut builder = search.walk(&search.root, |entry| {
        // What is neither file nor folder costs a turn of the walk otherwise.
        entry.file_type().is_some_and(|kind| kind.is_file())
    });
    choose_files(&mut builder, args, &search.root)?;
    let asked = Asked::new(args, hands);
    let found = Found::new(args.output_mode, asked.room());
    let single = search.root.is_file();
    let (all, search) = (&found, &search);
    search.each(&builder, || {
        let mut one = OneFile {
            matcher: matcher.clone(),
            searcher: searcher(args, single),
            shape: shape(args),
            scratch: Scratch::default(),
            single,
            args,
            search,
        };
        move |entry: DirEntry| {
            if all.takes(entry.path())
                && let Some(hit) = one.search(entry.path(), all)
                && search.shows(entry.path())
            {
                all.add(entry.path(), hit);
            }
        }
    });
    if cx.cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    Ok(report(found, search, &asked))
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
    builder.build(&args.pattern).map_err(|error| explain(&args.pattern, &error, multiline))
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

/// `single`: the one file was named, so that it is searched though it may be binary.
fn searcher(args: &Args, single: bool) -> Searcher {
    let (before, after) = context(args);
    let multiline = args.multiline == Some(true);
    let ending = if multiline { LineTerminator::byte(b'\n') } else { LineTerminator::crlf() };
    SearcherBuilder::new()
        .line_terminator(ending)
        .line_number(args.output_mode == Mode::Content)
        .before_context(before)
        .after_context(after)
        .multi_line(multiline)
        .binary_detection(match single {
            true => BinaryDetection::convert(0),
            false => BinaryDetection::quit(0),
        })
        .bom_sniffing(false)
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
    scratch: Scratch,
    single: bool,
    args: &'a Args,
    search: &'a Search,
}

impl OneFile<'_> {
    fn search(&mut self, path: &Path, found: &Found) -> Option<Hit> {
        let (hit, binary) = match self.look(path, found) {
            Ok(done) => done,
            Err(error) => {
                if !self.search.stop.now() {
                    self.search.trouble.file(path, &error);
                }
                return None;
            }
        };
        match (binary, self.single) {
            (false, _) => hit,
            // Lines of a file that turns out to be binary do not count.
            (true, false) => {
                self.search.trouble.binary(path);
                None
            }
            (true, true) => {
                if hit.is_some() {
                    found.binary_matches();
                }
                hit.filter(|hit| !matches!(hit, Hit::Lines(_)))
            }
        }
    }

    /// What the file gives, and whether it is binary.
    fn look(&mut self, path: &Path, found: &Found) -> io::Result<(Option<Hit>, bool)> {
        let file = input::open(path)?;
        let whole = self.searcher.multi_line_with_matcher(&self.matcher);
        let (mut input, breaks) = Input::new(file, self.search, &mut self.scratch, !whole);
        let judge = Judge { matcher: &self.matcher, breaks };
        let mut all = Segments { matcher: &self.matcher, searcher: &mut self.searcher, whole };
        match self.args.output_mode {
            Mode::FilesWithMatches => {
                let mut counter = Counter::first(judge);
                all.search(&mut input, &mut counter)?;
                let hit = (counter.matches > 0).then(|| Hit::File(input.modified()));
                Ok((hit, counter.binary))
            }
            Mode::Count => {
                let mut counter = Counter::all(judge);
                all.search(&mut input, &mut counter)?;
                Ok(((counter.matches > 0).then_some(Hit::Count(counter.matches)), counter.binary))
            }
            Mode::Content => {
                let mut shower = Shower::new(judge, self.shape, found.room());
                all.search(&mut input, &mut shower)?;
                let binary = shower.binary;
                Ok((shower.into_hit(), binary))
            }
        }
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
