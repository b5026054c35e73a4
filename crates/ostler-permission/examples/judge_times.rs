//! How long the judge takes. Without arguments: one line for each kind of script, with the
//! median, what 99 of 100 stay within and the worst, in nanoseconds; `--few` takes less care.
//! With a file: judges the script in it once, to be measured as a whole process. With
//! `--make BYTES`: prints such a script, made of everyday commands.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use ostler_permission::{
    Behavior, Call, Facts, Repository, Resolved, RuleSource, Rules, judge, look_ups,
};
use ostler_protocol::{Access, Mode};
use ostler_stdx::AbsPath;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args[..] {
        [make, bytes] if make == "--make" => {
            print!("{}", long_script(&everyday(), bytes.parse().unwrap_or(4096), 0));
        }
        [few] if few == "--few" => all(1, 2, &[4 << 10]),
        [file] => drop(black_box(once(&std::fs::read_to_string(file)?))),
        _ => all(5, 12, &[4 << 10, 64 << 10]),
    }
    Ok(())
}

/// Each everyday line is judged `rounds` times, and `long` long scripts of each size.
fn all(rounds: usize, long: usize, sizes: &[usize]) {
    let lines = everyday();
    let short = (0..rounds).flat_map(|_| lines.iter().map(|line| once(line))).collect();
    show("an everyday line", short);
    for bytes in sizes {
        let kib = bytes >> 10;
        let times = (0..long).map(|at| once(&long_script(&lines, *bytes, at))).collect();
        show(&format!("a script of {kib} KiB"), times);
        show(&format!("{kib} KiB that open and never close"), steep(*bytes));
    }
}

fn show(what: &str, mut all: Vec<Duration>) {
    all.sort();
    let at = |share: usize| all.get((all.len() * share / 100).min(all.len().saturating_sub(1)));
    let [median, most, worst] =
        [50, 99, 100].map(|share| at(share).copied().unwrap_or_default().as_nanos());
    println!("{what}\t{median}\t{most}\t{worst}");
}

fn everyday() -> Vec<String> {
    let command = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        value["command"].as_str().map(str::to_owned)
    };
    include_str!("../tests/everyday.jsonl").lines().filter_map(command).collect()
}

/// A script of about so many bytes; another for each number.
fn long_script(lines: &[String], bytes: usize, number: usize) -> String {
    const BETWEEN: &[&str] = &["\n", "\n", " && true\n", "; true\n", " || true\n"];
    let mut script = String::new();
    // Steps without a common factor with the length of the list: no line comes twice early.
    let mut at = number * 97;
    while script.len() < bytes {
        script.push_str(&lines[at % lines.len()]);
        script.push_str(BETWEEN[at % BETWEEN.len()]);
        at += 389;
    }
    script
}

/// Scripts that are hard for a parser: much that opens and nothing that closes.
fn steep(bytes: usize) -> Vec<Duration> {
    const OPENERS: &[&str] = &[
        "(",
        "$(",
        "{ ",
        "`",
        "\"$(",
        "${x:-",
        "$((",
        "if ",
        "while ",
        "for x in ",
        "case x in ",
        "a | ",
        "a && ",
        "<(",
        "cat <<E\n",
        "[[ ( ",
        "{a,",
        "f() {",
        "! ",
        "\\\n",
        "'",
        "\"",
        "a=(",
        "<<",
        "time ",
        "$'",
        "x[",
        "; ",
        "a ",
        "a;b&c|d\n",
    ];
    OPENERS.iter().map(|opener| once(&opener.repeat(bytes / opener.len()))).collect()
}

/// Judges a script as a session does, but for the disk: look-ups found nothing odd.
fn once(script: &str) -> Duration {
    let start = Instant::now();
    let root = AbsPath::root();
    let (project, home) = (root.join("srv/app"), root.join("home/me"));
    let accesses = [Access::Shell { command: script.to_owned(), cwd: project.clone() }];
    let found = look_ups(&accesses, &home);
    let mut facts = Facts::new(project.clone(), home.clone());
    let repositories = found.repositories.into_iter();
    facts.repositories.extend(repositories.map(|folder| (folder, Repository::default())));
    facts.globs.extend(found.globs.into_iter().map(|glob| (glob, Some(Vec::new()))));
    facts.walks.extend(found.walks.into_iter().map(|path| (path, Some(Vec::new()))));
    for path in found.paths.into_iter().chain([project, home]) {
        facts.resolved.insert(path.clone(), Resolved { real: path, exists: true, is_dir: false });
    }
    let mut rules = Rules::default();
    for rule in ["Bash(rm:*)", "Bash(curl:*)", "Read(.env)", "Read(secret/**)"] {
        // These rules are well formed.
        let _fine = rules.add(Behavior::Deny, rule, RuleSource::User);
    }
    black_box(judge(&Call {
        tool: "Bash",
        args: &serde_json::Map::new(),
        accesses: &accesses,
        mode: Mode::Default,
        rules: &rules,
        facts: &facts,
        can_ask: true,
    }));
    start.elapsed()
}
