//! Nothing is left: of a command, of a session, of a killed Ostler.

use std::{
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    process::{ExitCode, Stdio},
    time::{Duration, Instant},
};

use ostler_sandbox::{Exit, Supervisor};
use ostler_stdx::Cancel;

use crate::harness::{Mark, eventually, exe, run, sh, supervisor, tests};

tests![
    cancel_kills_a_tree_that_escapes_and_ignores_term,
    cancel_kills_a_chain_that_forks_all_the_time,
    cancel_before_the_start_starts_nothing,
    cancel_during_the_start_leaves_nothing,
    cancel_of_one_command_leaves_the_others,
    a_stopped_process_is_killed_too,
    a_dropped_run_kills_its_tree,
    the_end_of_a_command_takes_its_daemons_along,
    a_killed_parent_leaves_nothing,
];

/// Six processes: plain, in another session, orphaned, and both; all ignore TERM.
const ESCAPING: &str = "
    trap '' TERM
    loop='trap \"\" TERM; while :; do sleep 0.5; done'
    sh -c \"$loop\" &
    setsid sh -c \"$loop\" &
    (sh -c \"$loop\" &)
    (setsid sh -c \"($loop) & exit\" &)
    setsid sh -c \"setsid sh -c '(setsid sh -c \\\"while :; do sleep 0.5; done\\\" &)'\" &
    echo ready
    while :; do sleep 0.5; done
";

/// The processes of [`ESCAPING`] at the least, without their `sleep`s.
const ESCAPED: usize = 6;

/// Cancels `script` when `count` processes run; how it ended and how long that took.
async fn cancel_when(script: &str, mark: &Mark, count: usize) -> (Exit, Duration) {
    let cancel = Cancel::new();
    let command = sh(script, mark);
    let supervisor = supervisor();
    let run = supervisor.run(&command, &cancel, |_, _| {});
    let stop = async {
        mark.wait_for(count).await;
        let at = Instant::now();
        cancel.cancel();
        at
    };
    let (exit, at) = tokio::join!(async { (run.await.unwrap(), Instant::now()) }, stop);
    (exit.0, exit.1 - at)
}

async fn cancel_kills_a_tree_that_escapes_and_ignores_term() {
    let mark = Mark::new();
    let (exit, took) = cancel_when(ESCAPING, &mark, ESCAPED * 2).await;
    mark.assert_gone();
    assert!(exit.cancelled && !exit.timed_out);
    assert_eq!(exit.signal, Some(9));
    assert!(took < Duration::from_secs(1), "{took:?}");
}

async fn cancel_kills_a_chain_that_forks_all_the_time() {
    // Each link starts the next one in a new session and ends.
    let script =
        "trap '' TERM; export LINK='setsid sh -c \"$LINK\" &'; sh -c \"$LINK\"; sleep 1000";
    let mark = Mark::new();
    let (exit, took) = cancel_when(script, &mark, 2).await;
    assert!(exit.cancelled);
    assert!(took < Duration::from_secs(1), "{took:?}");
    mark.assert_gone();
}

async fn cancel_before_the_start_starts_nothing() {
    let cancel = Cancel::new();
    cancel.cancel();
    let supervisor = supervisor();
    let exit = supervisor.run(&sh("exit 1", &Mark::new()), &cancel, |_, _| {}).await.unwrap();
    assert!(exit.cancelled);
    assert_eq!((exit.code, exit.signal, supervisor.pid()), (None, None, None));
}

async fn cancel_during_the_start_leaves_nothing() {
    let supervisor = supervisor();
    for micros in (0..3000).step_by(100) {
        let (mark, cancel) = (Mark::new(), Cancel::new());
        let command = sh("setsid sleep 1000 & sleep 1000", &mark);
        let run = supervisor.run(&command, &cancel, |_, _| {});
        // A different moment of the start each time; none of them is waited for.
        let stop = async {
            tokio::time::sleep(Duration::from_micros(micros)).await;
            cancel.cancel();
        };
        let (exit, ()) = tokio::join!(run, stop);
        assert!(exit.unwrap().cancelled);
        mark.assert_gone();
    }
}

async fn cancel_of_one_command_leaves_the_others() {
    let (first, second) = (Mark::new(), Mark::new());
    let supervisor = supervisor();
    let (cancel_first, cancel_second) = (Cancel::new(), Cancel::new());
    let daemon = "setsid sh -c '(sleep 1000 &) ; sleep 1000' & sleep 1000";
    let (run_first, run_second) = (sh(daemon, &first), sh(daemon, &second));
    let run_first = supervisor.run(&run_first, &cancel_first, |_, _| {});
    let run_second = supervisor.run(&run_second, &cancel_second, |_, _| {});
    let check = async {
        first.wait_for(5).await;
        second.wait_for(5).await;
        cancel_first.cancel();
        first.assert_gone_within(Duration::from_secs(2)).await;
        assert!(second.pids().len() >= 5);
        cancel_second.cancel();
    };
    let (_, exit, ()) = tokio::join!(run_first, run_second, check);
    assert!(exit.unwrap().cancelled);
    second.assert_gone();
}

async fn a_stopped_process_is_killed_too() {
    let mark = Mark::new();
    let (exit, took) = cancel_when("sleep 1000 & kill -STOP $! $$", &mark, 2).await;
    assert!(exit.cancelled && took < Duration::from_secs(1), "{exit:?} {took:?}");
    mark.assert_gone();
}

async fn a_dropped_run_kills_its_tree() {
    let mark = Mark::new();
    let command = sh(ESCAPING, &mark);
    let (supervisor, cancel) = (supervisor(), Cancel::new());
    tokio::select! {
        _ = supervisor.run(&command, &cancel, |_, _| {}) => panic!("it ended"),
        () = mark.wait_for(ESCAPED) => {}
    }
    mark.assert_gone_within(Duration::from_secs(2)).await;
}

async fn the_end_of_a_command_takes_its_daemons_along() {
    let mark = Mark::new();
    let exit = run(&sh("setsid sleep 1000 >/dev/null 2>&1 & exit 6", &mark)).await;
    assert_eq!(exit.code, Some(6));
    mark.assert_gone();
}

const VICTIM: &str = "ostler-test-victim";

/// A program with a supervisor, to be killed.
pub(crate) fn victim_main() -> Option<ExitCode> {
    let mut args = std::env::args();
    if args.next()? != VICTIM {
        return None;
    }
    let (exe, mark) = (args.next()?, Mark::from_text(&args.next()?));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().ok()?;
    runtime.block_on(async {
        let supervisor = Supervisor::start(exe).unwrap();
        println!("{}", supervisor.pid().unwrap());
        let (command, cancel) = (sh(ESCAPING, &mark), Cancel::new());
        supervisor.run(&command, &cancel, |_, _| {}).await.unwrap();
    });
    Some(ExitCode::FAILURE)
}

#[expect(clippy::disallowed_methods, reason = "a stand-in for Ostler, to be killed")]
async fn a_killed_parent_leaves_nothing() {
    let mark = Mark::new();
    let mut victim = std::process::Command::new(exe())
        .arg0(VICTIM)
        .args([exe().to_str().unwrap(), mark.text()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(victim.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let supervisor = std::path::Path::new("/proc").join(line.trim());
    assert!(supervisor.exists());
    mark.wait_for(ESCAPED).await;
    victim.kill().unwrap();
    victim.wait().unwrap();
    mark.assert_gone_within(Duration::from_secs(2)).await;
    // An adopted zombie may stay until whoever adopts it looks; it runs no more.
    let ended = || match std::fs::read_to_string(supervisor.join("stat")) {
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    };
    eventually("the supervisor ends", Duration::from_secs(2), ended).await;
}
