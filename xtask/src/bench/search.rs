//! Grep and Glob against ripgrep on the same tree, each as a whole process, in turns. Both must
//! find the same files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::Plan;
use super::measure::{Process, paired};
use super::report::Row;
use super::stats::{median, median_ratio};
use crate::{sh, workspace};

/// Files in a folder of the tree.
const FOLDER: usize = 100;
/// Every so many files one has the word, and the ending, that is searched for.
const RARE: usize = 997;

pub(super) fn search(plan: &Plan) -> Result<Vec<Row>> {
    let Some(rg) = workspace::find_program("rg") else {
        anyhow::bail!("ripgrep is not on the PATH: install it to compare with it");
    };
    let tool = example(plan)?;
    let dir = tempfile::tempdir()?;
    let root = dir.path();
    let files = if plan.small { 500 } else { 50_000 };
    grow(root, files)?;
    let ours = |verb: &str, pattern: &str| Process::new(&tool).args([verb, pattern]).arg(root);
    let theirs = |args: &[&str]| Process::new(&rg).args(args).arg(root);
    let mut rows = compare(plan, "Grep", &ours("grep", "needle"), &theirs(&["-l", "needle"]))?;
    let glob = theirs(&["--files", "-g", "*.rare"]);
    rows.extend(compare(plan, "Glob", &ours("glob", "**/*.rare"), &glob)?);
    Ok(rows)
}

fn compare(plan: &Plan, what: &str, ours: &Process, theirs: &Process) -> Result<Vec<Row>> {
    let (found, wanted) = (names(ours)?, names(theirs)?);
    ensure!(!wanted.is_empty() && found == wanted, "{what} found {found:?}, ripgrep {wanted:?}");
    let pairs = paired(ours, theirs, plan.runs.min(11))?;
    let wall = |sample: &super::measure::Sample| sample.wall.as_secs_f64();
    let ratio = median_ratio(pairs.iter().map(|(a, b)| (wall(a), wall(b))))?;
    let ours = median(pairs.iter().map(|(a, _)| wall(a) * 1e3))?;
    Ok(vec![
        Row::new(what, "wall", ours, "ms"),
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

/// A tree of small text files; a few have the word, a few others the ending.
fn grow(root: &Path, files: usize) -> Result<()> {
    let filler = "let value = compute(input, 42);\n".repeat(24);
    for number in 0..files {
        let folder = root.join(format!("a{}/b{}", number / (FOLDER * 20), number / FOLDER));
        if number % FOLDER == 0 {
            std::fs::create_dir_all(&folder)?;
        }
        let word = if number % RARE == RARE / 2 { "a needle\n" } else { "" };
        let ending = if number % RARE == RARE / 3 { "rare" } else { "rs" };
        let path = folder.join(format!("file{number}.{ending}"));
        std::fs::write(&path, format!("{filler}{word}"))
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(())
}
