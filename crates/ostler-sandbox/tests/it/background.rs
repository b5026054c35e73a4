//! Commands in the background.

use std::{fs, time::Duration};

use ostler_sandbox::{Background, Command, OutputCap, Supervisor};
use ostler_stdx::AbsPath;
use tempfile::TempDir;

use crate::harness::{Mark, eventually, sh, supervisor, tests};

tests![
    output_goes_to_a_file_with_a_limit,
    wait_does_not_wait_for_what_was_left_behind,
    kill_leaves_nothing,
    dropping_it_kills_it,
    its_time_limit_holds,
    shutdown_kills_it,
    a_file_that_cannot_be_made_says_so,
];

struct Started {
    background: Background,
    supervisor: Supervisor,
    file: AbsPath,
    _folder: TempDir,
}

async fn start(command: Command) -> Started {
    let folder = tempfile::tempdir().unwrap();
    let file = AbsPath::new(folder.path().join("out")).unwrap();
    let supervisor = supervisor();
    let background = supervisor.spawn_background(&command, &file).await.unwrap();
    Started { background, supervisor, file, _folder: folder }
}

async fn output_goes_to_a_file_with_a_limit() {
    let script = "printf begin; head -c 1000000 /dev/zero | tr '\\0' a; printf end; exit 2";
    let command = sh(script, &Mark::new());
    let started = start(command.output_cap(OutputCap { head: 600, tail: 4000 })).await;
    let status = started.background.wait().await;
    assert_eq!((status.code, status.signal), (Some(2), None));
    let kept = fs::read_to_string(&started.file).unwrap();
    assert!((2600..=4600).contains(&kept.len()), "{}", kept.len());
    assert_eq!(status.written, kept.len() as u64);
    assert!(kept.starts_with("begina") && kept.ends_with("aend"), "both ends are there");
    let line = format!("\n[... {} bytes were left out here ...]\n", status.omitted);
    assert_eq!(kept.matches("left out here").count(), 1);
    assert!(kept.contains(&line), "{kept}");
    let letters = kept.len() - line.len();
    assert_eq!(letters as u64 + status.omitted, 1_000_008, "nothing is uncounted");
}

async fn wait_does_not_wait_for_what_was_left_behind() {
    let mark = Mark::new();
    let started = start(sh("sleep 1000 & echo a; echo b >&2", &mark)).await;
    let status = started.background.wait().await;
    assert_eq!((status.ended, status.gone, status.code), (true, false, Some(0)));
    assert_eq!(fs::read(&started.file).unwrap().len(), 4);
    mark.wait_for(1).await;
    assert!(started.background.kill().await.gone);
    mark.assert_gone();
}

async fn kill_leaves_nothing() {
    let mark = Mark::new();
    let started = start(sh("trap '' TERM; setsid sleep 1000 & sleep 1000", &mark)).await;
    mark.wait_for(3).await;
    assert!(mark.pids().contains(&started.background.pid()));
    let status = started.background.kill().await;
    assert!(status.ended && status.gone);
    assert_eq!(status.signal, Some(9));
    mark.assert_gone();
}

async fn dropping_it_kills_it() {
    let mark = Mark::new();
    let started = start(sh("sleep 1000", &mark)).await;
    mark.wait_for(1).await;
    drop(started.background);
    mark.assert_gone_within(Duration::from_secs(2)).await;
}

async fn its_time_limit_holds() {
    let mark = Mark::new();
    let started = start(sh("sleep 1000", &mark).timeout(Duration::from_millis(50))).await;
    let status = started.background.wait().await;
    assert_eq!((status.signal, status.timed_out), (Some(15), true));
    // The shell ended; what it started ends with the rest of the tree.
    mark.assert_gone_within(Duration::from_secs(2)).await;
}

async fn shutdown_kills_it() {
    let mark = Mark::new();
    let started = start(sh("trap '' TERM; while :; do sleep 0.1; done", &mark)).await;
    mark.wait_for(1).await;
    started.supervisor.shutdown().await;
    mark.assert_gone();
    let gone = || started.background.status().gone;
    eventually("the handle knows", Duration::from_secs(2), gone).await;
}

async fn a_file_that_cannot_be_made_says_so() {
    let file = AbsPath::root().join("no-such-folder/out");
    let command = sh("true", &Mark::new());
    let error = supervisor().spawn_background(&command, &file).await.unwrap_err();
    assert!(matches!(error, ostler_sandbox::Error::Output { path, .. } if path == file));
}
