//! The supervisor itself: what happens when it is missing or killed, and its price.

use std::{
    fs,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use ostler_sandbox::{Command, Error, Supervisor};
use ostler_stdx::{AbsPath, Cancel};

use crate::harness::{Mark, eventually, exe, sh, supervisor, tests};

tests![
    it_starts_at_first_use_and_serves_many,
    what_is_no_supervisor_is_refused,
    after_shutdown_nothing_starts,
    a_killed_supervisor_is_replaced_and_its_commands_go_on,
    a_killed_keeper_takes_its_tree_along,
    term_ends_it_with_everything,
    two_hundred_commands_at_once_all_end,
    starting_and_spawning_are_cheap,
];

async fn it_starts_at_first_use_and_serves_many() {
    let supervisor = Supervisor::new("/proc/self/exe");
    assert_eq!(supervisor.pid(), None);
    let mut pids = Vec::new();
    for _ in 0..3 {
        let exit = supervisor.run(&sh("true", &Mark::new()), &Cancel::new(), |_, _| {}).await;
        assert!(exit.unwrap().is_success());
        pids.push(supervisor.pid().unwrap());
    }
    pids.dedup();
    assert_eq!(pids.len(), 1);
}

async fn what_is_no_supervisor_is_refused() {
    for exe in ["/bin/true", "/no/such/file"] {
        let Err(error) = Supervisor::start(exe) else { panic!("{exe} is no supervisor") };
        assert!(matches!(error, Error::Supervisor { .. }), "{error}");
        let lazy = Supervisor::new(exe);
        let exit = lazy.run(&sh("true", &Mark::new()), &Cancel::new(), |_, _| {}).await;
        assert!(matches!(exit, Err(Error::Supervisor { .. })), "{exit:?}");
    }
}

async fn after_shutdown_nothing_starts() {
    let supervisor = Supervisor::start(exe()).unwrap();
    let pid = supervisor.pid().unwrap();
    supervisor.shutdown().await;
    assert!(!fs::exists(format!("/proc/{pid}")).unwrap());
    let exit = supervisor.run(&sh("true", &Mark::new()), &Cancel::new(), |_, _| {}).await;
    assert!(matches!(exit, Err(Error::ShutDown)), "{exit:?}");
}

async fn a_killed_supervisor_is_replaced_and_its_commands_go_on() {
    let supervisor = Supervisor::start(exe()).unwrap();
    let mark = Mark::new();
    let (command, cancel) = (sh("(setsid sleep 1000 &); sleep 1000", &mark), Cancel::new());
    let first = supervisor.run(&command, &cancel, |_, _| {});
    let check = async {
        mark.wait_for(3).await;
        let pid = supervisor.pid().unwrap();
        kill(Pid::from_raw(pid as i32), Signal::SIGKILL).unwrap();
        let ended =
            || fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|s| s.contains(") Z "));
        eventually("the supervisor ends", Duration::from_secs(2), ended).await;
        let exit = supervisor.run(&sh("exit 9", &Mark::new()), &Cancel::new(), |_, _| {}).await;
        assert_eq!(exit.unwrap().code, Some(9));
        assert_ne!(supervisor.pid().unwrap(), pid);
        cancel.cancel();
    };
    let (exit, ()) = tokio::join!(first, check);
    assert!(exit.unwrap().cancelled);
    mark.assert_gone();
}

async fn a_killed_keeper_takes_its_tree_along() {
    let supervisor = supervisor();
    let mark = Mark::new();
    let command = sh("trap '' TERM; (setsid sleep 1000 &); sleep 1000", &mark);
    let cancel = Cancel::new();
    let run = supervisor.run(&command, &cancel, |_, _| {});
    let check = async {
        mark.wait_for(3).await;
        let children =
            |pid: u32| fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        let keeper = children(supervisor.pid().unwrap());
        kill(Pid::from_raw(keeper.trim().parse().unwrap()), Signal::SIGKILL).unwrap();
    };
    let (exit, ()) = tokio::join!(run, check);
    assert!(matches!(exit, Err(Error::Lost { .. })), "{exit:?}");
    mark.assert_gone_within(Duration::from_secs(1)).await;
    let exit = supervisor.run(&sh("exit 8", &Mark::new()), &Cancel::new(), |_, _| {}).await;
    assert_eq!(exit.unwrap().code, Some(8));
}

async fn term_ends_it_with_everything() {
    let supervisor = supervisor();
    let mark = Mark::new();
    let command = sh("trap '' TERM; (setsid sleep 1000 &); sleep 1000", &mark);
    let cancel = Cancel::new();
    let run = supervisor.run(&command, &cancel, |_, _| {});
    let check = async {
        mark.wait_for(3).await;
        let pid = Pid::from_raw(supervisor.pid().unwrap() as i32);
        kill(pid, Signal::SIGTERM).unwrap();
    };
    let (exit, ()) = tokio::join!(run, check);
    assert_eq!(exit.unwrap().signal, Some(9));
    mark.assert_gone_within(Duration::from_secs(2)).await;
}

async fn two_hundred_commands_at_once_all_end() {
    let supervisor = supervisor();
    let mut running = tokio::task::JoinSet::new();
    for number in 0..200 {
        let supervisor = supervisor.clone();
        running.spawn(async move {
            let command = sh(&format!("echo {number}"), &Mark::new());
            let exit = supervisor.run(&command, &Cancel::new(), |_, _| {}).await.unwrap();
            assert_eq!(exit.stdout.to_text(), format!("{number}\n"));
        });
    }
    running.join_all().await;
}

async fn starting_and_spawning_are_cheap() {
    let begin = Instant::now();
    let supervisor = Supervisor::start(exe()).unwrap();
    let start = begin.elapsed();
    let command = Command::new("/bin/true", AbsPath::root());
    let mut times = Vec::new();
    for _ in 0..200 {
        let begin = Instant::now();
        let exit = supervisor.run(&command, &Cancel::new(), |_, _| {}).await.unwrap();
        times.push(begin.elapsed());
        assert!(exit.is_success());
    }
    times.sort_unstable();
    let status = fs::read_to_string(format!("/proc/{}/status", supervisor.pid().unwrap())).unwrap();
    let memory = status.lines().find(|line| line.starts_with("RssAnon")).unwrap();
    println!("start {start:?}, /bin/true median {:?}, p95 {:?}, {memory}", times[100], times[190]);
    // Generous, for a busy machine; what it costs stands in the line above.
    assert!(times[100] < Duration::from_millis(50), "{:?}", times[100]);
}
