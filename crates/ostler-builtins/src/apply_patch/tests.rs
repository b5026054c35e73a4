//! What ApplyPatch promises, held on examples.

use std::fs;

use proptest::prelude::*;
use serde_json::json;

use super::{hunks, parse::parse};
use crate::tests::bench::{Bench, snapshot};

fn wrapped(body: &str) -> serde_json::Value {
    json!({ "patch": format!("*** Begin Patch\n{body}*** End Patch\n") })
}

fn update(source: &str, body: &str) -> Result<String, String> {
    let patch = format!("*** Begin Patch\n*** Update File: a\n{body}*** End Patch");
    let operations = parse(&patch)?;
    let [super::Operation::Update { hunks, .. }] = operations.as_slice() else {
        panic!("one update expected");
    };
    hunks::apply(source, hunks)
}

#[test]
fn hunks_change_their_lines_only() {
    let check = |source: &str, body: &str, expected: &str| {
        assert_eq!(update(source, body).as_deref(), Ok(expected), "{body}");
    };
    check("a\r\nb\nc\r\n", "@@\n a\n-b\n+B\n c\n", "a\r\nB\nc\r\n");
    check("a\nb", "@@\n-b\n+B\n+C\n", "a\nB\nC");
    check("a\nb\n", "@@\n-a\n", "b\n");
    check("a\nb", "@@\n+c\n", "a\nb\nc");
    check("a\r\nb\r\n", "@@\n+c\n", "a\r\nb\r\nc\r\n");
    check("", "@@\n+c\n", "c\n");
    check("f {\n x\n}\ng {\n x\n}\n", "@@ g {\n- x\n+ y\n", "f {\n x\n}\ng {\n y\n}\n");
    check("a\nb\na\n", "@@\n-a\n+c\n*** End of File\n", "a\nb\nc\n");
    check("a  \nb\n", "@@\n a\n-b\n+c\n", "a  \nc\n");
    check("a\nb\nc\nd\n", "@@\n-a\n+1\n@@\n-d\n+4\n", "1\nb\nc\n4\n");
    check("a\nc\n", "@@ a\n+b\n", "a\nb\nc\n");
}

#[test]
fn what_is_not_certain_is_refused() {
    assert!(update("x\ny\nx\n", "@@\n-x\n+z\n").unwrap_err().contains("lines 1, 3"));
    assert!(update("x\n", "@@\n-y\n+z\n").unwrap_err().contains("not found"));
    assert!(update("x\n", "@@ f\n-x\n+z\n").unwrap_err().contains("behind `@@`"));
    assert!(update("x\ny\n", "@@\n-y\n+1\n@@\n-x\n+2\n").unwrap_err().contains("hunk 2"));
    assert!(parse("x").unwrap_err().contains("Begin Patch"));
    assert!(parse("*** Begin Patch\n*** End Patch").unwrap_err().contains("no file"));
    assert!(
        parse("*** Begin Patch\n*** Add File: a\nx\n*** End Patch").unwrap_err().contains("line 3")
    );
    assert!(parse("*** Begin Patch\n*** Delete File: a\n").unwrap_err().contains("End Patch"));
    assert!(update("x\n", "@@\n x\n").unwrap_err().contains("changes nothing"));
}

#[tokio::test]
async fn a_patch_is_applied_whole() {
    let bench = Bench::new();
    for (name, content) in [("a", "one\ntwo\n"), ("gone", "x\n"), ("from", "1\r\n2\r\n")] {
        bench.file(name, content);
        bench.text("Read", json!({"file_path": name})).await;
    }
    let body = "*** Update File: a\n@@\n-two\n+2\n*** Add File: new/b\n+hello\n*** Delete File: gone\n*** Update File: from\n*** Move to: to\n@@\n-2\n+3\n";
    assert_eq!(bench.preview("ApplyPatch", wrapped(body)).await.len(), 5);
    let output = bench.call("ApplyPatch", wrapped(body)).await.unwrap();
    assert_eq!(bench.bytes("a"), b"one\n2\n");
    assert_eq!(bench.bytes("new/b"), b"hello\n");
    assert_eq!(bench.bytes("to"), b"1\r\n3\r\n");
    assert!(!bench.root.join("gone").exists() && !bench.root.join("from").exists());
    assert_eq!(output.diffs.len(), 5);
}

#[tokio::test]
async fn one_bad_part_stops_all() {
    let bench = Bench::new();
    for name in ["a", "b"] {
        bench.file(name, "one\n");
        bench.text("Read", json!({"file_path": name})).await;
    }
    bench.file("unread", "one\n");
    let before = snapshot(&bench.root);
    let good = "*** Update File: a\n@@\n-one\n+1\n";
    for (bad, says) in [
        ("*** Update File: b\n@@\n-two\n+2\n", "not found"),
        ("*** Update File: unread\n@@\n-one\n+2\n", "not been read"),
        ("*** Add File: b\n+x\n", "there already"),
        ("*** Delete File: none\n", "no file"),
        ("*** Update File: ./a\n@@\n-one\n+2\n", "named twice"),
    ] {
        let refused = bench.refused("ApplyPatch", wrapped(&format!("{good}{bad}"))).await;
        assert!(refused.contains(says), "{refused}");
        assert_eq!(before, snapshot(&bench.root), "{bad}");
    }
}

#[tokio::test]
async fn a_write_that_fails_takes_the_others_back() {
    let bench = Bench::new();
    for name in ["a", "b", "locked"] {
        bench.file(name, "one\n");
        bench.text("Read", json!({"file_path": name})).await;
    }
    let mut mode = fs::metadata(bench.root.join("locked")).unwrap().permissions();
    mode.set_readonly(true);
    fs::set_permissions(bench.root.join("locked"), mode).unwrap();
    let before = snapshot(&bench.root);
    let body = "*** Update File: a\n@@\n-one\n+1\n*** Add File: new\n+x\n*** Delete File: b\n*** Update File: locked\n@@\n-one\n+1\n";
    let refused = bench.refused("ApplyPatch", wrapped(body)).await;
    assert!(refused.contains("all files are as they were"), "{refused}");
    assert_eq!(before, snapshot(&bench.root));
}

proptest! {
    #[test]
    fn any_patch_is_read_or_refused(lines in prop::collection::vec("(@@|\\+|-| |\\*\\*\\* (Update File: a|Add File: b|End of File|Move to: c))?[ab]{0,2}", 0..12), source in "[ab\\r\\n]{0,12}") {
        let patch = format!("*** Begin Patch\n{}\n*** End Patch", lines.join("\n"));
        super::fuzz_patch(&[source.as_bytes(), b"\0", patch.as_bytes()].concat());
    }
}
