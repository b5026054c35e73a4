//! What `shell` promises, held on examples.

use std::{
    fs,
    os::unix::fs::symlink,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use ostler_tool::{Progress, ToolError};
use serde_json::{Value, json};

use crate::tests::bench::{Bench, text};

async fn bash(bench: &Bench, command: &str) -> String {
    bench.text("Bash", json!({"command": command})).await
}

#[tokio::test]
async fn output_code_and_environment_are_those_of_the_command() {
    let bench = Bench::new();
    assert_eq!(
        bash(&bench, "echo $GREETING; env | wc -l").await,
        "hello\n6".replace('6', &env_lines(&bench).await)
    );
    assert_eq!(bash(&bench, "true").await, "(Bash completed with no output)");
    assert_eq!(bash(&bench, "cat").await, "(Bash completed with no output)");
    assert_eq!(bash(&bench, "echo out; false").await, "Exit code 1\nout");
    assert_eq!(bash(&bench, "exit 3").await, "Exit code 3");
    assert_eq!(bash(&bench, "kill -9 $$").await, "Ended by signal 9");
    assert_eq!(bash(&bench, "printf '\\033[31mred\\033[0m \\377'").await, "red \u{fffd}");
    let output =
        bench.call("Bash", json!({"command": "echo out; echo err >&2; exit 2"})).await.unwrap();
    let expected = json!({"stdout": "out", "stderr": "err", "interrupted": false, "isImage": false, "noOutputExpected": false});
    assert_eq!(output.structured, expected);
}

/// A shell of the system may set a few variables itself; it sets no others in a call.
async fn env_lines(bench: &Bench) -> String {
    let names = bash(bench, "env | cut -d= -f1 | sort | tr '\\n' ' '").await;
    for name in names.split_whitespace() {
        assert!(["GREETING", "OLDPWD", "PATH", "PWD", "SHLVL", "_"].contains(&name), "{name}");
    }
    names.split_whitespace().count().to_string()
}

#[tokio::test]
async fn the_folder_is_kept_inside_the_project_only() {
    let bench = Bench::new();
    bench.file("a b/c/x", "");
    assert_eq!(bash(&bench, "cd 'a b'; pwd").await, format!("{}/a b", bench.root));
    assert_eq!(bash(&bench, "cd c && ls; false").await, "Exit code 1\nx");
    assert_eq!(bash(&bench, "pwd").await, format!("{}/a b/c", bench.root));
    assert_eq!(bash(&bench, "(cd /; true); ls").await, "x");
    let text = bash(&bench, "cd /").await;
    assert!(text.starts_with("Shell cwd was reset to "), "{text}");
    assert_eq!(bash(&bench, "pwd").await, bench.root.to_text());
    symlink("../outside", bench.root.join("link")).unwrap();
    assert!(bash(&bench, "cd link").await.contains("outside of the project"));
    assert_eq!(
        bench.text("Bash", json!({"command": "pwd", "workdir": "a b"})).await,
        format!("{}/a b", bench.root)
    );
    assert_eq!(bash(&bench, "pwd").await, bench.root.to_text());
}

#[tokio::test]
async fn what_follows_the_command_never_becomes_part_of_it() {
    let bench = Bench::new();
    for (command, expected) in [
        ("echo a # comment", "a"),
        ("echo a \\", "a \\"),
        ("cat <<END\nx\nEND", "x"),
        ("echo \"$#:$1\"", "0:"),
        ("set -u; echo a", "a"),
        ("set -C; echo a", "a"),
        ("pwd() { echo fake; }; cd() { :; }; echo a", "a"),
        ("trap 'echo bye $?' EXIT; false", "Exit code 1\nbye 1"),
        ("set -e; false; echo no", "Exit code 1"),
        ("exec echo a", "a"),
        ("-x", "Exit code 127\nbash: line 1: -x: command not found"),
    ] {
        assert_eq!(bash(&bench, command).await, expected, "{command}");
    }
    assert!(!bash(&bench, "set -x; true").await.contains("ostler"));
    let open = bash(&bench, "cat <<END\nx").await;
    assert!(open.contains('x') && !open.contains("ostler_code"), "{open}");
    let quote = bash(&bench, "echo 'a").await;
    assert!(quote.starts_with("Exit code ") && !quote.contains("ostler_code"), "{quote}");
}

#[tokio::test]
async fn the_way_to_say_the_folder_is_not_seen_and_leaves_nothing() {
    let bench = Bench::new();
    bench.file("sub/x", "");
    // Descriptor 3 is the command's own, whatever it does with it.
    let text = bash(&bench, "echo 3 >&3; exec 3>own; echo mine >&3; cd sub").await;
    assert!(text.contains("Bad file descriptor") || text.contains("bad file descriptor"), "{text}");
    assert_eq!(bench.bytes("own"), b"mine\n");
    assert_eq!(bash(&bench, "pwd").await, format!("{}/sub", bench.root));
    // What goes on behind the command does not hold it open.
    assert_eq!(bash(&bench, "(sleep 30 &) ; cd ..").await, "(Bash completed with no output)");
    assert_eq!(bash(&bench, "pwd").await, bench.root.to_text());
    let open = bash(&bench, "ls /proc/self/fd").await;
    assert_eq!(open.lines().collect::<Vec<_>>(), ["0", "1", "2", "3"], "3 is the listing itself");
}

#[tokio::test]
async fn long_output_keeps_its_start_and_end() {
    let bench = Bench::new();
    let text =
        bash(&bench, "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last").await;
    assert!(
        text.len() < 31_000 && text.starts_with("first\n") && text.ends_with("\nlast"),
        "{}",
        text.len()
    );
    assert!(text.contains("3000012 bytes were written in all"), "{text}");
}

#[tokio::test]
async fn time_and_cancel_end_a_command() {
    let bench = Bench::new();
    let output =
        bench.call("Bash", json!({"command": "echo a; sleep 60", "timeout": "300"})).await.unwrap();
    assert_eq!(text(&output), "Command timed out after 300 ms\na");
    assert_eq!(
        (&output.structured["timedOutAfterMs"], &output.structured["interrupted"]),
        (&json!(300), &json!(true))
    );

    let cancel = bench.cx.cancel.clone();
    let started = bench.root.join("started");
    let (called, ()) =
        tokio::join!(bench.call("Bash", json!({"command": "touch started; sleep 60"})), async {
            while !started.exists() {
                tokio::task::yield_now().await;
            }
            cancel.cancel();
        });
    assert!(matches!(called, Err(ToolError::Cancelled)));
}

#[tokio::test]
async fn sh_stands_in() {
    let bench = Bench::with(|hands| hands.shell = "no-such-shell".into());
    bench.file("sub/x", "");
    assert_eq!(bash(&bench, "cd sub; ls").await, "x");
    assert_eq!(bash(&bench, "ls").await, "x");
    fs::remove_dir_all(bench.root.join("sub")).unwrap();
    assert!(bench.refused("Bash", json!({"command": "ls"})).await.contains("cannot enter folder"));
}

#[tokio::test]
async fn progress_is_told_at_most_five_times_a_second() {
    let mut bench = Bench::new();
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&told);
    bench.cx.progress =
        Progress::new(move |bytes, tail| sink.lock().unwrap().push((bytes, tail.to_owned())));
    let begin = Instant::now();
    bash(&bench, "for i in $(seq 2000); do echo line $i; done").await;
    let told = told.lock().unwrap();
    assert!(!told.is_empty() && told[0].1.contains("line "));
    assert!(Duration::from_millis(200) * u32::try_from(told.len() - 1).unwrap() <= begin.elapsed());
}

#[tokio::test]
async fn access_is_the_command_as_it_runs() {
    let bench = Bench::new();
    let args = crate::tests::bench::object(json!({"command": "ls\n-l", "description": "List"}));
    let tool = bench.registry.get("bash").unwrap();
    let access = tool.access(&args, &bench.root).unwrap();
    assert_eq!(
        format!("{access:?}"),
        format!("[Shell {{ command: \"ls\\n-l\", cwd: {:?} }}]", bench.root.as_path())
    );
    assert_eq!(tool.title(&args), "List");
    assert_eq!(
        tool.title(&crate::tests::bench::object(json!({"command": Value::from("ls\n-l")}))),
        "ls"
    );
}
