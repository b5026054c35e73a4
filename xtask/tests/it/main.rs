//! Black-box runs of the `xtask` binary: the launcher of the benches on real processes, the verbs
//! on a small repository with stand-ins for every program. They never touch this repository.

#[cfg(unix)]
mod ci;
#[cfg(unix)]
mod repo;
#[cfg(unix)]
mod web;

use std::process::{Command, Output};

#[expect(clippy::disallowed_methods, reason = "this test runs the binary that it tests")]
fn xtask(args: &[&str]) -> std::io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(args).output()
}

#[test]
fn launcher_measures_the_one_process_it_starts() {
    let output = xtask(&["__launch", "rustc", "--version"]).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let numbers: Vec<u64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let [wall_ns, cpu_us, peak_kib, first_ns, lines] = numbers[..] else { panic!("{text}") };
    assert!(output.status.success());
    assert!(wall_ns >= first_ns && cpu_us > 0 && peak_kib > 500 && lines == 1, "{text}");
}

#[test]
fn launcher_is_small_enough_to_measure_small_processes() {
    // The figure of a process that does nothing is that of the launcher it was forked from.
    let output = xtask(&["__launch", env!("CARGO_BIN_EXE_xtask"), "--help"]).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let peak_kib: u64 = text.split_whitespace().nth(2).unwrap().parse().unwrap();
    assert!(peak_kib < 16 * 1024, "{peak_kib} KiB");
}

#[test]
fn launcher_of_a_failing_process_fails() {
    let output = xtask(&["__launch", "rustc", "--no-such-option"]).unwrap();
    assert!(!output.status.success());
    assert!(output.stdout.is_empty());
}

#[test]
fn unknown_verb_and_unknown_soak_say_what_there_is() {
    let output = xtask(&["codegn"]).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("similar subcommand exists: 'codegen'")
    );
    let output = xtask(&["soak", "none"]).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("fuzz-all"));
}
