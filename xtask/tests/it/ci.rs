//! The order of CI and of the set-up before it, and what a failure says.

use crate::repo::{Repo, said};

/// A repository in which every check passes.
fn passing() -> std::io::Result<Repo> {
    let repo = Repo::new()?;
    let codegen = repo.xtask(&["codegen"])?;
    assert!(codegen.status.success(), "{}", said(&codegen));
    Ok(repo)
}

#[test]
fn checks_run_in_their_order_and_survive_a_new_binary() {
    let repo = passing().unwrap();
    let own = repo.path("target/debug/xtask").to_string_lossy().into_owned();
    // The other benches want a real program.
    let repo = repo.with("FAKE_REPLACED", &own).with("OSTLER_BENCH_ONLY", "version");
    let output = repo.xtask(&["ci"]).unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let calls = repo.calls();
    let calls: Vec<_> = calls.iter().filter(|call| !call.contains(" metadata ")).collect();
    assert_eq!(
        calls,
        [
            "cargo fmt --all --check",
            "cargo clippy --workspace --all-targets -- -D warnings",
            "cargo nextest --version",
            "cargo test --workspace --no-run",
            "cargo test --workspace",
            "cargo doc --no-deps --workspace [-D warnings]",
            "cargo run --quiet -p ostler-oracle -- run --count 2000 --seed 20261201",
            "cargo build -p ostler",
        ]
    );
    let table = said(&output);
    let order = ["format", "codegen --check", "tidy", "clippy", "web page", "build tests", "tests"];
    let table = table.split_once("\nstep ").unwrap().1;
    let mut at = 0;
    for step in order {
        at += table[at..].find(step).unwrap_or_else(|| panic!("`{step}` is late in {table}"));
    }
}

#[test]
fn failure_names_its_step_and_nothing_runs_after_it() {
    let repo = passing().unwrap().with("FAKE_FAIL", "clippy");
    let output = repo.xtask(&["ci"]).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("error: step `clippy` failed: "), "{}", said(&output));
    assert!(repo.calls().last().unwrap().starts_with("cargo clippy"));
}

#[test]
fn stale_generated_file_stops_ci() {
    let repo = passing().unwrap();
    repo.write("schema/openrpc.json", "{}").unwrap();
    let output = repo.xtask(&["ci"]).unwrap();
    let wanted = "step `codegen --check` failed: not what the types say: `schema/openrpc.json`";
    assert!(said(&output).contains(wanted), "{}", said(&output));
}

#[test]
fn set_up_is_done_once_and_leaves_no_foreign_executable() {
    let repo = Repo::new().unwrap();
    repo.write("tests/sdk-ts/package.json", "{}").unwrap();
    repo.write("tests/sdk-ts/package-lock.json", "{}").unwrap();
    repo.write("tests/sdk-py/requirements.txt", "sdk==1.0\n").unwrap();
    let output = repo.xtask(&["test", "--only-set-up"]).unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let calls = repo.calls();
    let had = |start: &str| calls.iter().any(|call| call.starts_with(start));
    assert!(had("npm ci --no-audit --no-fund --omit=optional --ignore-scripts"), "{calls:?}");
    assert!(had("python3 -m venv") && had("python3 -m pip install"), "{calls:?}");
    // Only root may install packages; anybody else is told which are missing.
    if nix::unistd::geteuid().is_root() {
        let packages = "apt-get -q -y install --no-install-recommends chromium ripgrep";
        assert!(had("apt-get -q -y update") && had(packages), "{calls:?}");
    } else {
        assert!(!had("apt-get") && said(&output).contains("chromium, ripgrep"), "{calls:?}");
    }
    let package = "target/sdk-py/lib/python3/site-packages/sdk";
    assert!(repo.path(package).is_dir() && !repo.path(package).join("_bundled").exists());

    let output = repo.xtask(&["test", "--only-set-up"]).unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let again = repo.calls();
    assert!(!again.iter().any(|call| call.contains("venv --clear") || call.starts_with("npm")));
}
