//! Commands that are talked to while they run.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::harness::{Mark, eventually, sh, supervisor, tests};

/// By then it has happened.
const LIMIT: Duration = Duration::from_secs(5);

tests![
    what_is_written_is_answered,
    its_end_ends_what_it_left_behind,
    kill_ends_a_tree_that_ignores_it,
    dropping_it_kills_it,
    the_newest_errors_are_kept,
];

async fn what_is_written_is_answered() {
    let supervisor = supervisor();
    let mut piped = supervisor.spawn_piped(&sh("cat", &Mark::new())).await.unwrap();
    let mut stdin = piped.stdin.take().unwrap();
    let mut stdout = piped.stdout.take().unwrap();
    for word in ["one", "two"] {
        stdin.write_all(word.as_bytes()).await.unwrap();
        let mut answer = [0; 3];
        stdout.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer, word.as_bytes());
    }
    drop(stdin);
    assert_eq!(piped.wait().await.code, Some(0));
}

async fn its_end_ends_what_it_left_behind() {
    let mark = Mark::new();
    let supervisor = supervisor();
    let piped = supervisor.spawn_piped(&sh("setsid sleep 1000 & exit 3", &mark)).await.unwrap();
    assert_eq!(piped.wait().await.code, Some(3));
    mark.assert_gone_within(LIMIT).await;
}

async fn kill_ends_a_tree_that_ignores_it() {
    let mark = Mark::new();
    let supervisor = supervisor();
    let script = "trap '' TERM; (trap '' TERM; sleep 1000) & echo up; wait; wait";
    let mut piped = supervisor.spawn_piped(&sh(script, &mark)).await.unwrap();
    piped.stdout.as_mut().unwrap().read_u8().await.unwrap();
    let status = piped.kill().await;
    assert!(status.gone);
    mark.assert_gone();
}

async fn dropping_it_kills_it() {
    let mark = Mark::new();
    let supervisor = supervisor();
    let piped = supervisor.spawn_piped(&sh("sleep 1000", &mark)).await.unwrap();
    drop(piped);
    mark.assert_gone_within(LIMIT).await;
}

async fn the_newest_errors_are_kept() {
    let supervisor = supervisor();
    let script = "head -c 200000 /dev/zero | tr '\\0' a >&2; echo last >&2";
    let piped = supervisor.spawn_piped(&sh(script, &Mark::new())).await.unwrap();
    piped.wait().await;
    eventually("the errors", LIMIT, || piped.errors().ends_with("last\n")).await;
    assert_eq!(piped.errors().len(), 64 << 10);
}
