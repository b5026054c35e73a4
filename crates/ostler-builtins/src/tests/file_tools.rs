//! What `file_tools` promises, held on examples.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
};

use ostler_protocol::{Access, FileStatus};
use serde_json::json;

use crate::{Gate, tests::bench::Bench};

#[tokio::test]
async fn read_then_edit_changes_one_line_and_tells_the_patch() {
    let bench = Bench::new();
    let path = bench.file("a.txt", "one\r\ntwo\r\nthree\r\n");
    assert_eq!(
        bench.text("Read", json!({"file_path": "a.txt"})).await,
        "     1\tone\n     2\ttwo\n     3\tthree"
    );
    let edit = json!({"filePath": path.to_text(), "oldString": "two", "newString": "2", "replaceAll": "false"});

    let preview = bench.preview("Edit", edit.clone()).await;
    assert_eq!(bench.bytes("a.txt"), b"one\r\ntwo\r\nthree\r\n");
    let output = bench.call("Edit", edit).await.unwrap();
    assert_eq!(output.diffs, preview);
    assert_eq!(bench.bytes("a.txt"), b"one\r\n2\r\nthree\r\n");
    assert_eq!(
        output.structured,
        json!({
            "filePath": path.to_text(), "oldString": "two", "newString": "2",
            "originalFile": "one\r\ntwo\r\nthree\r\n", "userModified": false, "replaceAll": false,
            "structuredPatch": [{"oldStart": 1, "oldLines": 3, "newStart": 1, "newLines": 3,
                                 "lines": [" one", "-two", "+2", " three"]}],
        })
    );
    // The session knows what it wrote: no second read is needed.
    bench
        .call("Edit", json!({"file_path": "a.txt", "old_string": "2", "new_string": "II"}))
        .await
        .unwrap();
    assert!(
        bench
            .refused("Edit", json!({"file_path": "a.txt", "old_string": "2", "new_string": "II"}))
            .await
            .contains("not found")
    );
}

#[tokio::test]
async fn a_file_that_was_not_seen_or_changed_since_is_not_written() {
    let bench = Bench::new();
    bench.file("a", "old");
    let edit = json!({"file_path": "a", "old_string": "old", "new_string": "new"});
    let write = json!({"file_path": "a", "content": "new"});
    for (tool, args) in [("Edit", &edit), ("Write", &write)] {
        assert!(bench.refused(tool, args.clone()).await.contains("has not been read yet"));
    }
    bench.text("Read", json!({"file_path": "a"})).await;
    bench.file("a", "old but other");
    for (tool, args) in [("Edit", &edit), ("Write", &write)] {
        assert!(bench.refused(tool, args.clone()).await.contains("changed since it was read"));
    }
    assert_eq!(bench.bytes("a"), b"old but other");
    // The same content under another time is the same file.
    bench.text("Read", json!({"file_path": "a"})).await;
    bench.file("a", "old but other");
    bench.call("Edit", edit).await.unwrap();
    assert_eq!(bench.bytes("a"), b"new but other");
}

#[tokio::test]
async fn write_creates_replaces_and_empties() {
    let bench = Bench::new();
    let args = json!({"file_path": "x/y/new.txt", "content": "a\nb\n"});
    let preview = bench.preview("Write", args.clone()).await;
    assert_eq!((preview[0].status, preview[0].added), (FileStatus::Added, 2));
    assert!(!bench.root.join("x").exists());
    let output = bench.call("Write", args).await.unwrap();
    assert_eq!(output.structured["type"], "create");
    assert_eq!(output.structured["originalFile"], json!(null));
    assert_eq!(bench.bytes("x/y/new.txt"), b"a\nb\n");

    let output =
        bench.call("Write", json!({"file_path": "x/y/new.txt", "content": ""})).await.unwrap();
    assert_eq!((bench.bytes("x/y/new.txt"), output.diffs[0].removed), (Vec::new(), 2));
    assert_eq!(output.structured["type"], "update");
    bench
        .call("Edit", json!({"file_path": "x/y/new.txt", "old_string": "", "new_string": "z"}))
        .await
        .unwrap();
    assert_eq!(bench.bytes("x/y/new.txt"), b"z");
    bench.call("Write", json!({"file_path": "~/in home", "content": "h"})).await.unwrap();
    assert_eq!(bench.bytes("../home/in home"), b"h");
}

#[tokio::test]
async fn write_keeps_encoding_and_endings_of_what_it_replaces() {
    let bench = Bench::new();
    bench.file("mixed", "a\r\nb\nc\r\n");
    bench.file("utf16", b"\xff\xfea\0\r\0\n\0");
    bench.file("latin", b"caf\xe9\n");
    bench.file("unknown", b"\x01caf\xe9\n");
    for name in ["mixed", "utf16", "latin", "unknown"] {
        bench.text("Read", json!({"file_path": name})).await;
    }
    let write = |name: &str, content: &str| json!({"file_path": name, "content": content});
    bench.call("Write", write("mixed", "a\nb\nnew\nc\n")).await.unwrap();
    assert_eq!(bench.bytes("mixed"), b"a\r\nb\nnew\nc\r\n");
    bench.call("Write", write("utf16", "a\nb\n")).await.unwrap();
    assert_eq!(bench.bytes("utf16"), b"\xff\xfea\0\r\0\n\0b\0\r\0\n\0");
    bench.call("Write", write("latin", "t\u{e9}\n")).await.unwrap();
    assert_eq!(bench.bytes("latin"), b"t\xe9\n");
    let refused = bench.refused("Write", write("latin", "\u{1f600}\n")).await;
    assert!(refused.contains("windows-1252"), "{refused}");
    assert!(bench.refused("Write", write("unknown", "t\u{e9}\n")).await.contains("8-bit encoding"));
    assert_eq!(bench.bytes("unknown"), b"\x01caf\xe9\n");
}

#[tokio::test]
async fn links_stay_and_odd_targets_are_refused() {
    let bench = Bench::new();
    bench.file("real/file", "old");
    symlink("real/file", bench.root.join("link")).unwrap();
    bench.text("Read", json!({"file_path": "link"})).await;
    bench
        .call("Edit", json!({"file_path": "link", "old_string": "old", "new_string": "new"}))
        .await
        .unwrap();
    assert!(bench.root.join("link").is_symlink());
    assert_eq!(bench.bytes("real/file"), b"new");

    nix::unistd::mkfifo(bench.root.join("pipe").as_path(), nix::sys::stat::Mode::S_IRWXU).unwrap();
    bench.file("binary", b"a\0b");
    bench.file("a.pdf", b"%PDF-1.7\n");
    for (path, why) in [
        ("pipe", "pipe"),
        ("binary", "binary"),
        ("a.pdf", "damaged"),
        ("none", "no such file"),
        ("real/file/x", "not a folder"),
    ] {
        assert!(bench.refused("Read", json!({"file_path": path})).await.contains(why), "{path}");
    }
    for (path, why) in
        [("pipe", "pipe"), ("real", "folder"), ("Nul", "device"), ("real/file/x", "not a folder")]
    {
        assert!(
            bench.refused("Write", json!({"file_path": path, "content": "x"})).await.contains(why),
            "{path}"
        );
    }
    let read_only = bench.file("read-only", "old");
    bench.text("Read", json!({"file_path": "read-only"})).await;
    let mut mode = fs::metadata(&read_only).unwrap().permissions();
    mode.set_readonly(true);
    fs::set_permissions(&read_only, mode).unwrap();
    assert!(
        bench
            .refused("Write", json!({"file_path": "read-only", "content": "x"}))
            .await
            .contains("read-only")
    );
}

#[tokio::test]
async fn the_gate_sees_resolved_paths() {
    let bench = Bench::with(|hands| {
        hands.gate = Gate::new(|access| match access {
            Access::Read { path } | Access::Write { path }
                if path.to_text().contains("/outside/") =>
            {
                Err(format!("outside: {path}"))
            }
            _ => Ok(()),
        });
    });
    let outside = bench.root.join("../outside/secret");
    fs::write(&outside, "secret").unwrap();
    symlink("../outside", bench.root.join("inside")).unwrap();
    for (tool, args) in [
        ("Read", json!({"file_path": "inside/secret"})),
        ("Write", json!({"file_path": "inside/secret", "content": "x"})),
        ("Write", json!({"file_path": "inside/new/x", "content": "x"})),
        ("Edit", json!({"file_path": "inside/secret", "old_string": "s", "new_string": "x"})),
    ] {
        assert!(bench.refused(tool, args).await.starts_with("outside: "), "{tool}");
    }
    assert_eq!(fs::read(&outside).unwrap(), b"secret");
    assert!(!bench.root.join("../outside/new").exists());
    for tool in ["Grep", "Glob"] {
        let text = bench.text(tool, json!({"pattern": "secret", "path": "inside"})).await;
        assert!(text.starts_with("no "), "{text}");
    }
}

#[tokio::test]
async fn large_files_are_read_in_parts() {
    let bench = Bench::new();
    let line = "0123456789abcdef".repeat(64);
    let lines = 11 * 1024;
    bench.file("big", format!("{line}\n").repeat(lines));
    let refusal = bench.refused("Read", json!({"file_path": "big"})).await;
    assert!(refusal.contains("give offset and limit"), "{refusal}");
    let output = bench
        .call("Read", json!({"file_path": "big", "offset": "11000", "limit": 2}))
        .await
        .unwrap();
    let file = &output.structured["file"];
    assert_eq!(
        (&file["startLine"], &file["numLines"], &file["totalLines"]),
        (&json!(11000), &json!(2), &json!(lines))
    );
    bench
        .call("Edit", json!({"file_path": "big", "old_string": line, "new_string": "x"}))
        .await
        .unwrap_err();
}

#[tokio::test]
async fn pictures_folders_and_notebooks_are_shown() {
    let bench = Bench::new();
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x20\x08\x06".to_vec();
    bench.file("sub/picture.txt", &png);
    let output = bench.call("Read", json!({"file_path": "sub/picture.txt"})).await.unwrap();
    assert_eq!(output.structured["type"], "image");
    assert_eq!(output.structured["file"]["dimensions"]["originalHeight"], 32);
    png[16..20].copy_from_slice(&9000u32.to_be_bytes());
    bench.file("sub/wide.png", &png);
    assert!(bench.refused("Read", json!({"file_path": "sub/wide.png"})).await.contains("damaged"));
    png.resize((32 << 20) + 1, 0);
    bench.file("sub/heavy.png", &png);
    assert!(
        bench
            .refused("Read", json!({"file_path": "sub/heavy.png"}))
            .await
            .contains("larger than 32 MB")
    );
    bench.file("sub/deep/x", "");
    let text = bench.text("Read", json!({"file_path": "sub"})).await;
    assert!(text.ends_with("deep/\nheavy.png\npicture.txt\nwide.png"), "{text}");
    bench.file("n.ipynb", json!({"cells": [{"cell_type": "code", "source": "1 + 1"}]}).to_string());
    assert!(bench.text("Read", json!({"file_path": "n.ipynb"})).await.contains("1 + 1"));
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_named() {
    let bench = Bench::new();
    assert!(bench.refused("Read", json!({})).await.contains("file_path"));
    assert!(
        bench
            .refused("Read", json!({"file_path": "a", "offset": -1}))
            .await
            .contains("not negative")
    );
    assert!(
        bench
            .refused("Edit", json!({"file_path": "a", "old": "x"}))
            .await
            .contains("unknown field `old`")
    );
}

#[tokio::test]
async fn several_edits_are_made_together_or_not_at_all() {
    let bench = Bench::new();
    bench.file("a", "one\r\ntwo\r\nthree\r\n");
    bench.text("Read", json!({"file_path": "a"})).await;
    let edit = |old: &str, new: &str| json!({"old_string": old, "new_string": new});
    let call = |edits: &[serde_json::Value]| json!({"file_path": "a", "edits": edits});
    let refused = bench.refused("MultiEdit", call(&[edit("one", "1"), edit("four", "4")])).await;
    assert!(
        refused.contains("edit 2 of 2") && refused.contains("Nothing was written"),
        "{refused}"
    );
    assert_eq!(bench.bytes("a"), b"one\r\ntwo\r\nthree\r\n");
    assert!(bench.refused("MultiEdit", call(&[])).await.contains("edits is empty"));
    let output = bench
        .call("MultiEdit", call(&[edit("one", "1\nand"), edit("and\ntwo", "2")]))
        .await
        .unwrap();
    assert_eq!(bench.bytes("a"), b"1\r\n2\r\nthree\r\n");
    assert_eq!(output.diffs.len(), 1);
    assert_eq!(output.structured["originalFile"], "one\r\ntwo\r\nthree\r\n");
}

#[tokio::test]
async fn a_file_with_several_names_is_refused_and_says_how_to_go_on() {
    let bench = Bench::new();
    let path = bench.file("a", "old");
    fs::hard_link(&path, bench.root.join("b")).unwrap();
    bench.text("Read", json!({"file_path": "a"})).await;
    for (tool, args) in [
        ("Edit", json!({"file_path": "a", "old_string": "old", "new_string": "new"})),
        ("Write", json!({"file_path": "a", "content": "new"})),
    ] {
        let text = bench.refused(tool, args).await;
        assert!(
            text.contains("2 names (hard links)") && text.contains("mv FILE.new FILE"),
            "{text}"
        );
    }
    assert_eq!((bench.bytes("a"), bench.bytes("b")), (b"old".to_vec(), b"old".to_vec()));
    let way = bench.text("Bash", json!({"command": "cp -p a a.new && mv a.new a"})).await;
    assert_eq!(way, "(Bash completed with no output)");
    bench.call("Write", json!({"file_path": "a", "content": "new"})).await.unwrap();
    assert_eq!((bench.bytes("a"), bench.bytes("b")), (b"new".to_vec(), b"old".to_vec()));
}

#[tokio::test]
async fn a_file_that_a_patch_moves_keeps_its_mode() {
    let bench = Bench::new();
    let path = bench.file("run.sh", "one\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
    bench.text("Read", json!({"file_path": "run.sh"})).await;
    let patch = "*** Begin Patch\n*** Update File: run.sh\n*** Move to: bin/go.sh\n@@\n-one\n+two\n*** End Patch";
    bench.call("ApplyPatch", json!({ "patch": patch })).await.unwrap();
    assert_eq!(bench.bytes("bin/go.sh"), b"two\n");
    let mode = fs::metadata(bench.root.join("bin/go.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o751);
    assert!(!path.as_path().exists());
}
