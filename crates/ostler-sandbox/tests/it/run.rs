//! What a command is given and what comes back.

use std::{ffi::OsString, fs, os::unix::fs::PermissionsExt, time::Duration};

use nix::unistd::{Pid, dup, getsid};
use ostler_sandbox::{Command, Error, Stream};
use ostler_stdx::{AbsPath, Cancel};

use crate::harness::{Mark, run, run_sh, sh, supervisor, tests};

tests![
    exit_code_and_signal_come_back,
    streams_are_kept_apart_and_combined_in_order,
    output_is_shown_as_it_comes,
    standard_input_is_empty,
    input_is_given_and_ends,
    input_that_nobody_reads_harms_nobody,
    output_that_is_not_utf8_survives,
    environment_and_folder_are_exactly_the_given,
    no_open_file_and_no_terminal_is_inherited,
    signals_are_at_their_defaults,
    large_arguments_arrive_whole,
    what_cannot_start_says_why,
    a_script_without_interpreter_line_is_the_shells,
    three_commands_run_at_the_same_time,
];

async fn exit_code_and_signal_come_back() {
    let exit = run_sh("exit 7").await;
    assert_eq!((exit.code, exit.signal), (Some(7), None));
    assert!(!exit.is_success() && run_sh("true").await.is_success());
    let exit = run_sh("kill -USR1 $$").await;
    assert_eq!((exit.code, exit.signal), (None, Some(10)));
}

async fn streams_are_kept_apart_and_combined_in_order() {
    let exit = run_sh("echo out; echo err >&2").await;
    assert_eq!(exit.stdout.bytes(), b"out\n");
    assert_eq!(exit.stderr.bytes(), b"err\n");
    assert_eq!(exit.combined.total(), 8);
}

async fn output_is_shown_as_it_comes() {
    // The second line comes only after the first was seen.
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let script = format!("echo 1; until [ -e {} ]; do :; done; echo 2 >&2", seen.display());
    let command = sh(&script, &Mark::new()).timeout(Duration::from_secs(20));
    let mut got = Vec::new();
    let exit = supervisor()
        .run(&command, &Cancel::new(), |stream, bytes| {
            got.push((stream, bytes.to_vec()));
            fs::write(&seen, "").unwrap();
        })
        .await
        .unwrap();
    assert!(exit.is_success());
    assert_eq!(got, [(Stream::Stdout, b"1\n".to_vec()), (Stream::Stderr, b"2\n".to_vec())]);
    assert_eq!(exit.combined.bytes(), b"1\n2\n");
}

async fn standard_input_is_empty() {
    let exit = run_sh("cat").await;
    assert_eq!((exit.code, exit.stdout.total()), (Some(0), 0));
}

async fn input_is_given_and_ends() {
    let input = vec![b'x'; 1 << 20];
    let exit = run(&sh("wc -c; echo end", &Mark::new()).input(input)).await;
    assert_eq!(exit.stdout.to_text().split_whitespace().collect::<Vec<_>>(), ["1048576", "end"]);
}

async fn input_that_nobody_reads_harms_nobody() {
    let exit = run(&sh("exit 3", &Mark::new()).input(vec![0; 1 << 20])).await;
    assert_eq!(exit.code, Some(3));
}

async fn output_that_is_not_utf8_survives() {
    let exit = run_sh(r"printf 'a\377\000\200z'").await;
    assert_eq!(exit.stdout.bytes(), b"a\xff\x00\x80z");
    assert_eq!(exit.stdout.to_text(), "a\u{fffd}\0\u{fffd}z");
}

async fn environment_and_folder_are_exactly_the_given() {
    let folder = tempfile::tempdir().unwrap();
    let cwd = AbsPath::new(folder.path().canonicalize().unwrap()).unwrap();
    let env = [("A".into(), "1 2".into()), ("B".into(), OsString::new())];
    let exit = run(&Command::new("env", cwd.clone()).env(env.into())).await;
    assert_eq!(exit.stdout.to_text(), "A=1 2\nB=\n");
    let exit = run(&Command::new("pwd", cwd.clone())).await;
    assert_eq!(exit.stdout.to_text(), format!("{cwd}\n"));
}

async fn no_open_file_and_no_terminal_is_inherited() {
    // A file that whoever started us left open for its children.
    let left_open = dup(fs::File::open("/dev/null").unwrap()).unwrap();
    let exit = run_sh("cut -d' ' -f6,7 /proc/self/stat; exec ls -l /proc/self/fd").await;
    drop(left_open);
    let text = exit.stdout.to_text();
    let mut lines = text.lines();
    // The three standard streams, and the folder that is being listed.
    assert_eq!(lines.clone().filter(|line| line.contains("->")).count(), 4, "{text}");
    let (session, terminal) = lines.next().unwrap().split_once(' ').unwrap();
    assert_ne!(session.parse::<i32>().unwrap(), getsid(Some(Pid::this())).unwrap().as_raw());
    assert_eq!(terminal, "0");
}

async fn signals_are_at_their_defaults() {
    let exit = run_sh("grep -E '^Sig(Blk|Ign)' /proc/self/status").await;
    let text = exit.stdout.to_text();
    // The two signals above the ordinary ones belong to the C library.
    let ordinary = |line: &str| {
        u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap() & 0x7fff_ffff
    };
    assert_eq!(text.lines().map(ordinary).collect::<Vec<_>>(), [0, 0], "{text}");
}

async fn large_arguments_arrive_whole() {
    // More than a socket takes at once.
    let arg = "x".repeat(100_000);
    let command = sh("printf %s \"$@\" | wc -c", &Mark::new()).arg("sh");
    let exit = run(&command.args(vec![arg; 10])).await;
    assert_eq!(exit.stdout.to_text().trim(), "1000000");
}

async fn what_cannot_start_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    fs::write(&plain, "").unwrap();
    let root = AbsPath::root();
    let try_run = |command: Command| async move {
        supervisor().run(&command, &Cancel::new(), |_, _| {}).await.unwrap_err()
    };
    let error = try_run(Command::new("no-such-program", root.clone())).await;
    assert!(matches!(&error, Error::NotFound { program } if program == "no-such-program"));
    let error = try_run(Command::new("/no/such/program", root.clone())).await;
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
    let error = try_run(Command::new("true", root.join("no-such-folder"))).await;
    assert!(matches!(&error, Error::Folder { cwd, .. } if cwd.ends_with("no-such-folder")));
    let error = try_run(Command::new(&plain, root.clone())).await;
    assert!(matches!(error, Error::Start { .. }), "{error}");
    let error = try_run(Command::new("true", root).arg("a\0")).await;
    assert!(matches!(error, Error::Nul { .. }), "{error}");
}

async fn a_script_without_interpreter_line_is_the_shells() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    fs::write(&script, "echo \"script $1\"\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let exit = run(&Command::new(&script, AbsPath::root()).arg("x")).await;
    assert_eq!(exit.stdout.to_text(), "script x\n");
}

async fn three_commands_run_at_the_same_time() {
    // Each one ends only when it has seen the two others.
    let folder = tempfile::tempdir().unwrap();
    let supervisor = supervisor();
    let mut running = tokio::task::JoinSet::new();
    for own in 1..=3 {
        let script =
            format!("touch {own}; until [ -e 1 ] && [ -e 2 ] && [ -e 3 ]; do :; done; exit {own}");
        let cwd = AbsPath::new(folder.path()).unwrap();
        let command =
            Command::new("sh", cwd).args(["-c", &script]).timeout(Duration::from_secs(20));
        let supervisor = supervisor.clone();
        running.spawn(async move {
            supervisor.run(&command, &Cancel::new(), |_, _| {}).await.unwrap().code
        });
    }
    let mut codes = running.join_all().await;
    codes.sort_unstable();
    assert_eq!(codes, [Some(1), Some(2), Some(3)]);
}
