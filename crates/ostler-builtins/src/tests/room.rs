//! Disks and limits that end in the middle of a write: an error that says so, and nothing
//! half-written. Each test starts this program once more where there is little room.

use nix::sys::resource::{Resource, getrlimit};
use ostler_sandbox::{Command, Supervisor};
use ostler_stdx::{AbsPath, Cancel};
use serde_json::json;

use crate::tests::bench::Bench;

/// Runs one test of this program behind a line of shell; its exit code and output.
async fn again(name: &str, before: &str) -> (Option<i32>, String) {
    let exe = std::env::current_exe().unwrap();
    let script = format!("{before} && exec \"$0\" --exact tests::room::{name} --nocapture");
    let path = [("PATH".into(), "/usr/sbin:/usr/bin:/sbin:/bin".into())];
    let command = Command::new("/bin/sh", AbsPath::root())
        .args(["-c".into(), script.into(), exe.clone().into_os_string()])
        .env(path.into());
    let supervisor = Supervisor::new(exe);
    let exit = supervisor.run(&command, &Cancel::new(), |_, _| {}).await.unwrap();
    supervisor.shutdown().await;
    (exit.code, exit.combined.to_text())
}

/// Writes and edits that do not fit are refused with `why`, and change nothing.
async fn nothing_is_changed(bench: &Bench, why: &str) {
    let big = "x".repeat(200 << 10);
    bench.file("small", "old\n");
    bench.text("Read", json!({"file_path": "small"})).await;
    let patch = format!(
        "*** Begin Patch\n*** Add File: first\n+one\n*** Add File: second\n+{big}\n*** End Patch"
    );
    for (tool, args) in [
        ("Write", json!({"file_path": "new", "content": big})),
        ("Write", json!({"file_path": "small", "content": big})),
        ("Edit", json!({"file_path": "small", "old_string": "old", "new_string": big})),
        ("ApplyPatch", json!({ "patch": patch })),
    ] {
        let text = bench.refused(tool, args).await;
        assert!(text.contains(why), "{tool}: {text}");
        assert_eq!(bench.bytes("small"), b"old\n", "{tool}");
        let left: Vec<_> = std::fs::read_dir(&bench.root)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["small"], "{tool}");
    }
}

#[tokio::test]
async fn a_write_beyond_the_limit_of_file_size_is_refused() {
    let (soft, _) = getrlimit(Resource::RLIMIT_FSIZE).unwrap();
    if soft > 1 << 20 {
        let (code, text) =
            again("a_write_beyond_the_limit_of_file_size_is_refused", "ulimit -f 64").await;
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("1 passed"), "{text}");
        return;
    }
    nothing_is_changed(&Bench::new(), "limit on file size").await;
}

#[tokio::test]
async fn a_full_disk_refuses_and_changes_nothing() {
    let name = "a_full_disk_refuses_and_changes_nothing";
    let disk = nix::sys::statvfs::statvfs("/tmp").unwrap();
    if disk.blocks() * disk.fragment_size() > 1 << 20 {
        let before = "mount -t tmpfs -o size=128k none /tmp";
        let inner = format!(
            "exec unshare -rm /bin/sh -c '{before} && exec \"$0\" \"$@\"' \"$0\" --exact tests::room::{name} --nocapture"
        );
        let (code, text) = again(name, &format!("unshare -rm {before} || exit 0; {inner}")).await;
        assert_eq!(code, Some(0), "{text}");
        // Where no name spaces may be made there is no small disk either.
        assert!(text.contains("1 passed") || text.contains("unshare"), "{text}");
        return;
    }
    nothing_is_changed(&Bench::new(), "the disk is full").await;
}
