//! Grep and Glob against ripgrep on the same tree, each as a whole process, in turns. Both must
//! find the same files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::Plan;
use super::measure::{Process, Sample, paired, repeat};
use super::report::Row;
use super::stats::{median, median_ratio};
use crate::{sh, workspace};

/// Files in a folder of the tree.
const FOLDER: usize = 100;
/// Every so many files one has the word, and the ending, that is searched for.
const RARE: usize = 997;

pub(super) fn search(plan: &Plan) -> Result<Vec<Row>> {
    let rg = workspace::find_program("rg");
    let tool = example(plan)?;
    let dir = tempfile::tempdir()?;
    let root = dir.path();
    let (words, endings) = grow(root, if plan.small { 3_000 } else { 50_000 })?;
    let ours = |verb: &str, pattern: &str| Process::new(&tool).args([verb, pattern]).arg(root);
    let theirs =
        |args: &[&str]| rg.as_ref().map(|rg| Process::new(rg).args(args.iter().copied()).arg(root));
    let grep = (ours("grep", "needle"), theirs(&["-l", "needle"]));
    let glob = (ours("glob", "**/*.rare"), theirs(&["--files", "-g", "*.rare"]));
    let mut rows = compare(plan, "Grep", &grep.0, grep.1.as_ref(), &words)?;
    rows.extend(compare(plan, "Glob", &glob.0, glob.1.as_ref(), &endings)?);
    Ok(rows)
}

/// Without ripgrep on this machine there is no ratio, only our own time.
fn compare(
    plan: &Plan,
    what: &str,
    ours: &Process,
    theirs: Option<&Process>,
    wanted: &BTreeSet<String>,
) -> Result<Vec<Row>> {
    for process in [Some(ours), theirs].into_iter().flatten() {
        let found = names(process)?;
        ensure!(found == *wanted, "{what}: {found:?} were found, not {wanted:?}");
    }
    let wall = |sample: &Sample| sample.wall.as_secs_f64();
    let runs = plan.runs.min(11);
    let Some(theirs) = theirs else {
        let samples = repeat(ours, runs)?;
        let own = median(samples.iter().map(|sample| wall(sample) * 1e3))?;
        return Ok(vec![Row::new(what, "wall", own, "ms")]);
    };
    let pairs = paired(ours, theirs, runs)?;
    let ratio = median_ratio(pairs.iter().map(|(a, b)| (wall(a), wall(b))))?;
    let own = median(pairs.iter().map(|(a, _)| wall(a) * 1e3))?;
    Ok(vec![
        Row::new(what, "wall", own, "ms"),
        Row::new(&format!("{what}, rg"), "wall ratio", ratio, "x"),
    ])
}

/// The names of the files found, without their folders: they are unique in the tree.
fn names(process: &Process) -> Result<BTreeSet<String>> {
    let text = process.command().read_quietly()?;
    let name = |line: &str| line.rsplit('/').next().unwrap_or(line).to_owned();
    Ok(text.lines().map(name).collect())
}

/// The tools as a program of their own.
fn example(plan: &Plan) -> Result<PathBuf> {
    let build = sh::cargo(["build", "--quiet", "-p", "ostler-builtins", "--example", "search"]);
    let (build, profile) =
        if plan.small { (build, "debug") } else { (build.arg("--release"), "release") };
    build.run()?;
    workspace::binary(profile, "examples/search")
}

/// A tree of small text files; a few have the word, a few others the ending. Gives the names of
/// both.
fn grow(root: &Path, files: usize) -> Result<(BTreeSet<String>, BTreeSet<String>)> {
    let filler = "let value = compute(input, 42);\n".repeat(24);
    let (mut words, mut endings) = (BTreeSet::new(), BTreeSet::new());
    for number in 0..files {
        let folder = root.join(format!("a{}/b{}", number / (FOLDER * 20), number / FOLDER));
        if number % FOLDER == 0 {
            std::fs::create_dir_all(&folder)?;
        }
        let (has_word, has_ending) = (number % RARE == RARE / 2, number % RARE == RARE / 3);
        let name = format!("file{number}.{}", if has_ending { "rare" } else { "rs" });
        let path = folder.join(&name);
        std::fs::write(&path, format!("{filler}{}", if has_word { "a needle\n" } else { "" }))
            .with_context(|| format!("cannot write `{}`", path.display()))?;
        if has_word {
            words.insert(name);
        } else if has_ending {
            endings.insert(name);
        }
    }
    ensure!(!words.is_empty() && !endings.is_empty(), "the tree has nothing to find");
    Ok((words, endings))
}
