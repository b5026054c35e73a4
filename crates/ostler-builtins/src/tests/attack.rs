//! Hostile targets: pipes, devices and sockets where a file is meant, names made of control
//! characters and bytes that are no text, files of the system, folders of many entries. Each
//! call ends soon, with an answer that is bounded and forges no line.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt as _, fs::symlink, net::UnixListener},
    time::{Duration, Instant},
};

use nix::{sys::stat::Mode, unistd::mkfifo};
use serde_json::{Value, json};

use crate::tests::bench::{Bench, text};

/// Calls that name one path in every way there is.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("Read", json!({"file_path": path})),
        ("Read", json!({"file_path": path, "offset": 1, "limit": 3})),
        ("Write", json!({"file_path": path, "content": "x"})),
        ("Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"})),
        (
            "MultiEdit",
            json!({"file_path": path, "edits": [{"old_string": "a", "new_string": "b"}]}),
        ),
        ("NotebookEdit", json!({"notebook_path": path, "new_source": "b"})),
        ("Grep", json!({"pattern": "x", "path": path})),
        ("LS", json!({"path": path})),
        ("Glob", json!({"pattern": "*", "path": path})),
        (
            "ApplyPatch",
            json!({"patch": format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch")}),
        ),
    ]
}

#[tokio::test]
async fn pipes_devices_and_sockets_block_nothing_and_stay() {
    let bench = Bench::new();
    mkfifo(bench.root.join("pipe").as_path(), Mode::from_bits_truncate(0o600)).unwrap();
    mkfifo(bench.root.join("pipe.ipynb").as_path(), Mode::from_bits_truncate(0o600)).unwrap();
    let _socket = UnixListener::bind(bench.root.join("socket").as_path()).unwrap();
    symlink("/dev/zero", bench.root.join("zero")).unwrap();
    symlink("/dev/tty", bench.root.join("tty")).unwrap();
    let kind = |name: &str| fs::symlink_metadata(bench.root.join(name)).unwrap().file_type();
    for name in ["pipe", "pipe.ipynb", "socket", "zero", "tty"] {
        let before = kind(name);
        for (tool, args) in calls(name) {
            let begun = Instant::now();
            let called = bench.call(tool, args.clone()).await;
            assert!(begun.elapsed() < Duration::from_secs(5), "{tool} {name}");
            if !["Grep", "LS", "Glob"].contains(&tool) {
                assert!(called.is_err(), "{tool} {name}: {called:?}");
            }
        }
        assert_eq!(kind(name), before, "{name}");
    }
    // A search of the folder passes over all of them.
    let found = bench.text("Grep", json!({"pattern": "x"})).await;
    assert!(found.contains("No") || found.contains("no "), "{found}");
}

#[tokio::test]
async fn names_of_any_bytes_forge_no_line_of_an_answer() {
    let bench = Bench::new();
    let names: [&[u8]; 5] =
        [b"a\nforged.rs", b"\x1b[2Jclear", b"tab\tname", b"\xff\xfe.txt", b"back\rslash"];
    for name in names {
        fs::write(bench.root.as_path().join(OsStr::from_bytes(name)), "needle\n").unwrap();
    }
    for (tool, args) in [
        ("LS", json!({})),
        ("Glob", json!({"pattern": "**/*"})),
        ("Grep", json!({"pattern": "needle"})),
        ("Grep", json!({"pattern": "needle", "output_mode": "content", "-n": true})),
        ("Grep", json!({"pattern": "needle", "output_mode": "count"})),
    ] {
        let said = bench.text(tool, args.clone()).await;
        let forged = said.lines().any(|line| line.trim_start().starts_with("forged.rs"));
        assert!(!forged, "{tool} {args}: {said:?}");
        assert!(!said.contains('\u{1b}') && !said.contains('\r'), "{tool} {args}: {said:?}");
    }
}

#[tokio::test]
async fn files_of_the_system_are_read_within_bounds() {
    let bench = Bench::new();
    for path in ["/proc/self/status", "/proc/cpuinfo", "/proc/self/maps", "/proc/self/cmdline"] {
        let called = bench.call("Read", json!({"file_path": path})).await;
        if let Ok(output) = called {
            assert!(text(&output).len() < 60_000, "{path}");
        }
    }
    for path in ["/proc/kmsg", "/proc/self/mem", "/dev/random", "/proc/self/pagemap"] {
        let begun = Instant::now();
        let called = bench.call("Read", json!({"file_path": path})).await;
        assert!(begun.elapsed() < Duration::from_secs(5), "{path}");
        if let Ok(output) = called {
            assert!(text(&output).len() < 60_000, "{path}");
        }
    }
    let refused =
        bench.refused("Write", json!({"file_path": "/proc/self/comm", "content": "x"})).await;
    assert!(refused.contains("has not been read") || refused.contains("cannot"), "{refused}");
}

#[tokio::test]
async fn a_folder_of_many_files_is_answered_soon_and_shortly() {
    let bench = Bench::new();
    let folder = bench.root.join("many");
    fs::create_dir(&folder).unwrap();
    for at in 0..20_000 {
        fs::write(folder.join(format!("file-{at:05}.txt")), "").unwrap();
    }
    for (tool, args) in [
        ("LS", json!({"path": "many"})),
        ("Glob", json!({"pattern": "**/*.txt"})),
        ("Grep", json!({"pattern": "x"})),
    ] {
        let begun = Instant::now();
        let said = bench.text(tool, args).await;
        assert!(said.len() < 40_000, "{tool}: {} bytes", said.len());
        assert!(begun.elapsed() < Duration::from_secs(20), "{tool}: {:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn a_huge_notebook_is_shown_in_part_and_edited_whole() {
    let bench = Bench::new();
    let cell = |at: usize| {
        json!({"cell_type": "code", "id": format!("c{at}"), "metadata": {}, "execution_count": null,
            "source": [format!("x{at} = '{}'\n", "y".repeat(500))],
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["z".repeat(1000)]}]})
    };
    let cells: Vec<_> = (0..6_000).map(cell).collect();
    let notebook = json!({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5});
    let path = bench.file("big.ipynb", notebook.to_string());
    let read = bench.call("Read", json!({"file_path": "big.ipynb"})).await.unwrap();
    assert!(text(&read).len() < 60_000);
    let edit = json!({"notebook_path": path.to_text(), "cell_id": "c5999", "new_source": "done"});
    bench.call("NotebookEdit", edit).await.unwrap();
    let now: Value = serde_json::from_slice(&bench.bytes("big.ipynb")).unwrap();
    assert_eq!(now["cells"].as_array().unwrap().len(), 6_000);
    assert_eq!(now["cells"][5_999]["source"], json!(["done"]));
}
