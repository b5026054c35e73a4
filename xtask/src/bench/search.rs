//! Grep and Glob against ripgrep on the same tree, each as a whole process, in turns: both must
//! find the same files. Then Grep alone on what has taken the memory of such tools.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::Plan;
use super::measure::{Process, Sample, paired, repeat};
use super::report::{Row, rows_of};
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
    rows.extend(heavy(plan, &tool)?);
    Ok(rows)
}

/// One line of 100 MB, and lines around a match in eight logs of 95 MB: time and memory.
fn heavy(plan: &Plan, tool: &Path) -> Result<Vec<Row>> {
    let (line, log) = if plan.small { (1, 1) } else { (100, 95) };
    let dir = tempfile::tempdir()?;
    let (lines, logs) = (dir.path().join("line"), dir.path().join("logs"));
    fill(&lines.join("a.js"), "function(a,b){return a+b};", line)?;
    for number in 0..8 {
        fill(
            &logs.join(format!("{number}.log")),
            "2026-01-01 INFO handled /api status=200\n",
            log,
        )?;
    }
    let mut rows = Vec::new();
    let cases = [("Grep, a line of", line, &lines), ("Grep -C 2, eight logs of", log, &logs)];
    for (what, size, root) in cases {
        let more = r#"{"output_mode": "content", "-C": 2}"#;
        let pattern = ".{0,80}needle.{0,200}";
        let grep = Process::new(tool).args(["grep", pattern]).arg(root).arg(more);
        ensure!(grep.command().read_quietly()?.contains("needle"), "{what}: nothing was found");
        rows.extend(rows_of(&format!("{what} {size} MB"), &repeat(&grep, plan.runs.min(3))?)?);
    }
    Ok(rows)
}

/// A file of so many MB of the same text, and a match at its end.
fn fill(path: &Path, text: &str, megabytes: usize) -> Result<()> {
    let block = text.repeat((1 << 20) / text.len());
    std::fs::create_dir_all(path.parent().unwrap_or(path))?;
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    for _ in 0..megabytes {
        file.write_all(block.as_bytes())?;
    }
    file.write_all(b"a needle in it")?;
    file.flush().with_context(|| format!("cannot write `{}`", path.display()))
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
