//! A home to throw away, a project, a model, and the program run in them.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use ostler_test::{ModelServer, Scenario, TempHome};
use serde_json::Value;

/// A shell script with a typo and its test.
pub(crate) const PROJECT: &str = "=== greet.sh\necho \"Helo, $1!\"\n=== test.sh\ntest \"$(sh greet.sh you)\" = 'Hello, you!' && echo passed\n";

pub(crate) struct World {
    pub(crate) home: TempHome,
    pub(crate) model: ModelServer,
}

impl World {
    /// A world whose model plays a file of `tests/scenarios`.
    pub(crate) fn playing(scenario: &str) -> Self {
        Self::playing_file(&scenario_file(scenario))
    }

    /// A world whose model plays this file.
    pub(crate) fn playing_file(scenario: &Path) -> Self {
        let home = TempHome::with_project(PROJECT).unwrap();
        home.init_git().unwrap();
        let vars = [("cwd".to_owned(), home.project().display().to_string())].into();
        let scenario = Scenario::load(scenario, &vars).unwrap();
        Self { home, model: ModelServer::start(scenario).unwrap() }
    }

    /// A world whose model plays this text.
    pub(crate) fn saying(replies: &str) -> Self {
        let home = TempHome::with_project(PROJECT).unwrap();
        let vars = [("cwd".to_owned(), home.project().display().to_string())].into();
        let text = format!(r#"{{"name": "inline", "replies": {replies}}}"#);
        let scenario = Scenario::parse("inline.scenario.json", &text, &vars).unwrap();
        Self { home, model: ModelServer::start(scenario).unwrap() }
    }

    /// The program in this world, asking the Messages wire.
    pub(crate) fn ostler(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ostler"));
        command.args(args).current_dir(self.home.project()).env_clear().envs(self.home.env());
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.env("ANTHROPIC_BASE_URL", self.model.url()).env("ANTHROPIC_API_KEY", "dummy-key");
        command.stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.ostler(args).output().unwrap())
    }

    /// Runs it to its end with this on standard input.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &[u8]) -> Ran {
        let mut command = self.ostler(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        feed(&mut child, input);
        Ran::of(child.wait_with_output().unwrap())
    }

    pub(crate) fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.home.project().join(name)).unwrap()
    }

    /// The only session log of this home.
    pub(crate) fn log(&self) -> PathBuf {
        let logs = logs_in(&self.home.ostler_home().join("projects"));
        assert_eq!(logs.len(), 1, "{logs:?}");
        logs.into_iter().next().unwrap()
    }
}

pub(crate) fn scenario_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios").join(name)
}

pub(crate) fn logs_in(projects: &Path) -> Vec<PathBuf> {
    let Ok(folders) = std::fs::read_dir(projects) else { return Vec::new() };
    folders
        .flatten()
        .flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "jsonl"))
        .collect()
}

fn feed(child: &mut Child, input: &[u8]) {
    // The program may end before it has read everything.
    child.stdin.take().unwrap().write_all(input).unwrap_or_default();
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Whether a test that needs more than Rust can run. Where the set-up is promised
/// (`OSTLER_TEST_FULL`, as `cargo xtask ci` sets it), a missing part fails the test.
pub(crate) fn full_set_up(what: &str, ready: bool) -> bool {
    let promised = std::env::var_os("OSTLER_TEST_FULL").is_some();
    assert!(ready || !promised, "{what}: the set-up is not complete; run `cargo xtask test`");
    if !ready {
        println!("{what}: left out, run `cargo xtask test` for it");
    }
    ready
}
