//! Output and time stay within bounds.

use std::time::{Duration, Instant};

use ostler_sandbox::OutputCap;
use ostler_stdx::Cancel;

use crate::harness::{Mark, run, run_sh, sh, supervisor, tests};

tests![
    fifty_megabytes_stay_bounded_and_do_not_block,
    a_child_that_holds_our_pipe_does_not_hang_us,
    a_child_that_writes_for_ever_does_not_hang_us,
    output_written_right_before_the_end_is_whole,
    closed_output_does_not_end_a_command,
    timeout_lets_the_command_save_and_says_so,
    timeout_kills_what_ignores_it,
];

async fn fifty_megabytes_stay_bounded_and_do_not_block() {
    let script = "echo begin; head -c 52428800 /dev/zero; echo end; head -c 1000000 /dev/zero >&2";
    let cap = OutputCap { head: 1000, tail: 500 };
    let exit = run(&sh(script, &Mark::new()).output_cap(cap)).await;
    assert_eq!(exit.stdout.total(), 52_428_800 + 10);
    assert_eq!(exit.stderr.total(), 1_000_000);
    let bytes = exit.stdout.bytes();
    assert_eq!(bytes.len(), 1500);
    assert!(bytes.starts_with(b"begin\n\0") && bytes.ends_with(b"\0end\n"));
    assert_eq!(exit.stdout.omitted(), exit.stdout.total() - 1500);
}

async fn a_child_that_holds_our_pipe_does_not_hang_us() {
    let mark = Mark::new();
    let begin = Instant::now();
    let exit = run(&sh("sleep 1000 & echo done", &mark)).await;
    assert_eq!(exit.stdout.bytes(), b"done\n");
    assert_eq!(exit.code, Some(0));
    assert!(begin.elapsed() < Duration::from_secs(3));
    mark.assert_gone();
}

async fn a_child_that_writes_for_ever_does_not_hang_us() {
    let mark = Mark::new();
    let begin = Instant::now();
    let exit = run(&sh("(trap '' TERM; while :; do echo x; done) & exit 4", &mark)).await;
    assert_eq!(exit.code, Some(4));
    assert!(begin.elapsed() < Duration::from_secs(3));
    mark.assert_gone();
}

async fn output_written_right_before_the_end_is_whole() {
    for _ in 0..20 {
        let exit = run_sh("head -c 60000 /dev/zero; echo end").await;
        assert_eq!(exit.stdout.total(), 60_004);
    }
}

async fn closed_output_does_not_end_a_command() {
    let exit =
        run_sh("exec >&- 2>&-; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; exit 5").await;
    assert_eq!(exit.code, Some(5));
}

async fn timeout_lets_the_command_save_and_says_so() {
    let script = "trap 'echo saved; exit 3' TERM; echo ready; while :; do sleep 0.01; done";
    let mark = Mark::new();
    let command = sh(script, &mark).timeout(Duration::from_millis(500));
    let exit = supervisor().run(&command, &Cancel::new(), |_, _| {}).await.unwrap();
    assert!(exit.timed_out && !exit.cancelled);
    assert_eq!(exit.code, Some(3));
    assert_eq!(exit.stdout.bytes(), b"ready\nsaved\n");
    assert!(exit.wall >= Duration::from_millis(500));
    mark.assert_gone();
}

async fn timeout_kills_what_ignores_it() {
    let mark = Mark::new();
    let command = sh("trap '' TERM; while :; do sleep 0.01; done", &mark)
        .timeout(Duration::from_millis(100))
        .kill_grace(Duration::from_millis(50));
    let exit = supervisor().run(&command, &Cancel::new(), |_, _| {}).await.unwrap();
    assert!(exit.timed_out);
    assert_eq!((exit.code, exit.signal), (None, Some(9)));
    mark.assert_gone();
}
