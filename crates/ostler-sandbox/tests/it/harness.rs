//! The smallest harness that cargo and nextest can drive, and what the tests share.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    pin::Pin,
    process::ExitCode,
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use ostler_sandbox::{Command, Exit, Supervisor};
use ostler_stdx::{AbsPath, Cancel};

pub(crate) type Test = (&'static str, fn() -> Pin<Box<dyn Future<Output = ()>>>);

/// A table of tests from the names of async functions.
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        pub(crate) const TESTS: &[$crate::harness::Test] = &[
            $((concat!(module_path!(), "::", stringify!($name)), || Box::pin($name())),)*
        ];
    };
}
pub(crate) use tests;

pub(crate) fn main(tests: &[Test]) -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    let filters: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let chosen = |name: &str| {
        let hit = |filter: &&&String| match has("--exact") {
            true => name == filter.as_str(),
            false => name.contains(filter.as_str()),
        };
        filters.is_empty() || filters.iter().any(|filter| hit(&filter))
    };
    let tests = tests.iter().filter(|(name, _)| chosen(name) && !has("--ignored"));
    if has("--list") {
        tests.for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let (mut passed, mut failed) = (0, 0);
    for (name, test) in tests {
        let begin = Instant::now();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        match catch_unwind(AssertUnwindSafe(|| runtime.block_on(test()))) {
            Ok(()) => {
                passed += 1;
                println!("test {name} ... ok ({} ms)", begin.elapsed().as_millis());
            }
            Err(_) => {
                failed += 1;
                println!("test {name} ... FAILED");
            }
        }
    }
    println!("\ntest result: {passed} passed; {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// This program, which is its own supervisor.
pub(crate) fn exe() -> PathBuf {
    std::env::current_exe().unwrap()
}

pub(crate) fn supervisor() -> Supervisor {
    Supervisor::new(exe())
}

/// A variable that all descendants of a command inherit and nobody else has.
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(format!("ostler-mark-{}-{next}-", std::process::id()))
    }

    pub(crate) fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    pub(crate) fn env(&self) -> BTreeMap<OsString, OsString> {
        let vars = [("MARK", self.0.as_str()), ("PATH", "/usr/local/bin:/usr/bin:/bin")];
        vars.map(|(name, value)| (name.into(), value.into())).into()
    }

    /// The living processes that carry the mark.
    pub(crate) fn pids(&self) -> Vec<i32> {
        let pids = fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let needle = format!("MARK={}", self.0).into_bytes();
        let marked = |pid: &i32| {
            let env = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            env.windows(needle.len()).any(|window| window == needle)
        };
        pids.filter(marked).collect()
    }

    pub(crate) async fn wait_for(&self, count: usize) {
        let what = format!("{count} processes");
        eventually(&what, Duration::from_secs(10), || self.pids().len() >= count).await;
    }

    pub(crate) fn assert_gone(&self) {
        assert_eq!(self.pids(), Vec::<i32>::new(), "processes left");
    }

    pub(crate) async fn assert_gone_within(&self, limit: Duration) {
        eventually("no process left", limit, || self.pids().is_empty()).await;
    }
}

pub(crate) async fn eventually(what: &str, limit: Duration, mut reached: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !reached() {
        assert!(begin.elapsed() < limit, "not within {limit:?}: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// A shell command that carries `mark`.
pub(crate) fn sh(script: &str, mark: &Mark) -> Command {
    Command::new("sh", AbsPath::root()).args(["-c", script]).env(mark.env())
}

/// Runs a shell command; it must end by itself soon.
pub(crate) async fn run_sh(script: &str) -> Exit {
    run(&sh(script, &Mark::new())).await
}

pub(crate) async fn run(command: &Command) -> Exit {
    let command = command.clone().timeout(Duration::from_secs(20));
    let exit = supervisor().run(&command, &Cancel::new(), |_, _| {}).await.unwrap();
    assert!(!exit.timed_out, "{exit:?}");
    exit
}
