//! Starts processes and times steps. The only file of `xtask` that may start a process;
//! it never goes through a shell, so no argument is ever parsed twice.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::workspace;

/// A command that shows itself before it runs.
#[derive(Debug)]
pub(crate) struct Cmd {
    inner: Command,
    shown: String,
}

/// A command, started in the root of the repository unless [`Cmd::dir`] says otherwise.
pub(crate) fn cmd(program: impl AsRef<OsStr>) -> Cmd {
    let program = program.as_ref();
    #[expect(clippy::disallowed_methods, reason = "automation starts tools; this is its one place")]
    let mut inner = Command::new(program);
    inner.current_dir(workspace::root());
    // `cargo xtask` describes xtask to us in these. Handed on to another cargo they look like a
    // change to build scripts that watch them, and half the tree would be built again.
    for name in workspace::env_names() {
        let text = name.to_string_lossy();
        if ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"]
            .iter()
            .any(|prefix| text.starts_with(prefix))
        {
            inner.env_remove(&name);
        }
    }
    Cmd { inner, shown: program.to_string_lossy().into_owned() }
}

/// The cargo that started us, set up for CI when `CI` is set.
pub(crate) fn cargo<const N: usize>(args: [&str; N]) -> Cmd {
    let program = workspace::env("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut cargo = cmd(program);
    "cargo".clone_into(&mut cargo.shown);
    if workspace::env("CI").is_some() {
        cargo.inner.env("CARGO_INCREMENTAL", "0").env("CARGO_TERM_COLOR", "never");
    }
    cargo.args(args)
}

impl Cmd {
    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        let text = arg.as_ref().to_string_lossy();
        let quoted = text.is_empty() || text.contains(' ');
        self.shown.push_str(&if quoted { format!(" '{text}'") } else { format!(" {text}") });
        self.inner.arg(arg);
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(self, args: impl IntoIterator<Item = A>) -> Self {
        args.into_iter().fold(self, Self::arg)
    }

    pub(crate) fn dir(mut self, dir: &Path) -> Self {
        self.inner.current_dir(dir);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.inner.env(name, value);
        self.shown = format!("{name}={value} {}", self.shown);
        self
    }

    /// Runs it with our own output; an error if it does not end well.
    pub(crate) fn run(mut self) -> Result<()> {
        self.show();
        let status = self.inner.status().with_context(|| self.cannot_start())?;
        if !status.success() {
            bail!("`{}` ended with {status}", self.shown);
        }
        Ok(())
    }

    /// Runs it and gives what it wrote to its standard output.
    pub(crate) fn read(self) -> Result<String> {
        self.show();
        self.read_quietly()
    }

    /// The same without showing the command, for what runs over and over.
    pub(crate) fn read_quietly(mut self) -> Result<String> {
        let output = self
            .inner
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .output()
            .with_context(|| self.cannot_start())?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("`{}` ended with {}: {}", self.shown, output.status, said.trim());
        }
        String::from_utf8(output.stdout)
            .with_context(|| format!("`{}` wrote text that is not UTF-8", self.shown))
    }

    /// Whether it can be started and ends well; says and shows nothing.
    pub(crate) fn works(mut self) -> bool {
        let quiet = self.inner.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    }

    /// Runs it with nothing to read, and gives what it wrote and when it began to write.
    pub(crate) fn drained(mut self) -> Result<Drained> {
        let quiet = self.inner.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = quiet.spawn().with_context(|| self.cannot_start())?;
        let mut out = child.stdout.take().context("a pipe was asked for")?;
        let (mut text, mut first) = (Vec::new(), None);
        let mut piece = vec![0; 64 * 1024];
        loop {
            let length = out.read(&mut piece)?;
            first = first.or_else(|| Some(Instant::now()));
            if length == 0 {
                break;
            }
            text.extend_from_slice(&piece[..length]);
        }
        let ended_well = child.wait()?.success();
        Ok(Drained { ended_well, text, first: first.unwrap_or_else(Instant::now) })
    }

    /// Starts it, to talk to it; its errors are thrown away.
    pub(crate) fn spawn_to_talk(mut self) -> Result<Child> {
        let talk = self.inner.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        talk.spawn().with_context(|| self.cannot_start())
    }

    /// Becomes the command; comes back only with an error (or, off Unix, after it ended).
    pub(crate) fn exec(mut self) -> Result<()> {
        self.show();
        #[cfg(unix)]
        {
            let error = std::os::unix::process::CommandExt::exec(&mut self.inner);
            Err(error).with_context(|| self.cannot_start())
        }
        #[cfg(not(unix))]
        self.run()
    }

    fn show(&self) {
        eprintln!("$ {}", self.shown);
    }

    fn cannot_start(&self) -> String {
        format!("cannot start `{}`: is it installed and on the PATH?", self.shown)
    }
}

/// What a process wrote to its standard output.
#[derive(Debug)]
pub(crate) struct Drained {
    pub(crate) ended_well: bool,
    pub(crate) text: Vec<u8>,
    /// When its first bytes came, or its end if there were none.
    pub(crate) first: Instant,
}

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It did its work.
    Done,
    /// Nothing to do, for the reason given.
    Skipped(&'static str),
    /// It failed, and so did the whole run.
    Failed,
}

/// The steps of a run, each with what it came to and how long it took.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    taken: Vec<(String, Duration, Outcome)>,
}

impl Steps {
    /// Does one step; an error names it.
    pub(crate) fn step(
        &mut self,
        name: &str,
        work: impl FnOnce() -> Result<Outcome>,
    ) -> Result<()> {
        eprintln!("== {name}");
        let start = Instant::now();
        let result = work();
        let outcome = *result.as_ref().unwrap_or(&Outcome::Failed);
        if let Outcome::Skipped(why) = outcome {
            eprintln!("   skipped: {why}");
        }
        self.taken.push((name.to_owned(), start.elapsed(), outcome));
        result.map(|_| ()).with_context(|| format!("step `{name}` failed"))
    }

    /// Does one step that always has something to do.
    pub(crate) fn run(&mut self, name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.step(name, || work().map(|()| Outcome::Done))
    }

    /// Notes a step that was left out.
    pub(crate) fn skip(&mut self, name: &str, why: &'static str) {
        eprintln!("== {name}\n   skipped: {why}");
        self.taken.push((name.to_owned(), Duration::ZERO, Outcome::Skipped(why)));
    }

    /// Prints the table of steps, if there was more than one.
    pub(crate) fn summary(&self) {
        if self.taken.len() > 1 {
            eprint!("{}", self.table());
        }
    }

    fn table(&self) -> String {
        let width = self.taken.iter().map(|(name, ..)| name.len()).max().unwrap_or(0).max(5);
        let mut table = format!("\n{:<width$}  seconds\n", "step");
        for (name, took, outcome) in &self.taken {
            let note = match outcome {
                Outcome::Done => String::new(),
                Outcome::Skipped(why) => format!("  skipped: {why}"),
                Outcome::Failed => "  FAILED".to_owned(),
            };
            table.push_str(&format!("{name:<width$}  {:>7.1}{note}\n", took.as_secs_f64()));
        }
        let total: Duration = self.taken.iter().map(|(_, took, _)| *took).sum();
        table.push_str(&format!("{:<width$}  {:>7.1}\n", "total", total.as_secs_f64()));
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_step_is_named_and_listed() {
        let mut steps = Steps::default();
        steps.run("first", || Ok(())).unwrap();
        steps.skip("second", "not wanted");
        let error = steps.run("third", || bail!("no luck")).unwrap_err();
        assert_eq!(format!("{error:#}"), "step `third` failed: no luck");
        let table = steps.table();
        assert!(table.contains("second      0.0  skipped: not wanted"), "{table}");
        assert!(table.contains("third") && table.contains("FAILED"), "{table}");
    }

    #[test]
    fn command_error_names_the_command_and_what_it_said() {
        let error = cargo(["no-such-verb-of-cargo"]).read().unwrap_err().to_string();
        assert!(error.starts_with("`cargo no-such-verb-of-cargo` ended with"), "{error}");
        assert!(error.contains("no such command"), "{error}");
    }

    #[test]
    fn missing_program_says_what_to_look_for() {
        let error = cmd("no-such-program-here").arg("a b").run().unwrap_err().to_string();
        let wanted = "cannot start `no-such-program-here 'a b'`: is it installed and on the PATH?";
        assert_eq!(error, wanted);
        assert!(!cmd("no-such-program-here").works());
    }
}
