//! What `run` writes: the answer on standard output, the rest on standard error.

use std::io::{self, BufWriter, IsTerminal as _, Write as _};

use ostler_agent_sdk::{Projector, ProjectorOptions};
use ostler_host::{LiveSession, RunEnd, RunReason, SessionEvent, core::event::ToolDone};

use super::words::Words;
use crate::{
    args::{OutputFormat, RunArgs},
    exit::{self, Exit},
    visible::{visible, visible_line},
};

/// Writes what happens, as the output format says.
pub(crate) struct Output {
    out: BufWriter<io::Stdout>,
    form: Form,
    /// Whether standard error shows what tools do.
    tells: bool,
}

enum Form {
    /// The answer; all words of the run, else the last ones at its end.
    Text(Option<Words>),
    /// Frames of the Agent SDK; `last` keeps only the result.
    Frames { projector: Box<Projector>, only_result: bool },
    /// Lines that come ready.
    Lines,
}

impl Form {
    /// Whether words stand on a terminal before their answer is whole.
    fn shows_words(&self) -> bool {
        matches!(self, Self::Text(Some(words)) if words.is_terminal)
    }
}

impl Output {
    pub(crate) fn new(session: &LiveSession, args: &RunArgs, print: bool) -> Self {
        let frames = |only_result| Form::Frames {
            projector: Box::new(Projector::new(ProjectorOptions::of(
                session,
                args.include_partial_messages,
            ))),
            only_result,
        };
        let form = match args.output_format {
            OutputFormat::Text => {
                Form::Text((!print).then(|| Words::new(io::stdout().is_terminal())))
            }
            OutputFormat::Json => frames(true),
            OutputFormat::StreamJson => frames(false),
            OutputFormat::Events => Form::Lines,
        };
        let tells = !print && args.output_format == OutputFormat::Text;
        Self { out: BufWriter::with_capacity(64 * 1024, io::stdout()), form, tells }
    }

    /// Lines about what waits for trust and which settings were skipped.
    pub(crate) fn warn(&self, warnings: &[String]) {
        for line in warnings {
            tell(&format!("ostler: {}", visible(line)));
        }
    }

    /// Writes one event.
    pub(crate) fn event(&mut self, event: &SessionEvent) -> Result<(), Exit> {
        if self.tells {
            self.tell_tools(event)?;
        }
        let written = match &mut self.form {
            Form::Text(Some(words)) => words.event(&mut self.out, event),
            Form::Text(None) | Form::Lines => Ok(()),
            Form::Frames { projector, only_result } => {
                let is_result = matches!(event, SessionEvent::RunEnded(_));
                projector.project(event).into_iter().try_for_each(|line| {
                    if *only_result && !(is_result && line.starts_with("{\"type\":\"result\"")) {
                        return Ok(());
                    }
                    writeln!(self.out, "{line}")
                })
            }
        };
        done(written)
    }

    /// Writes a ready line.
    pub(crate) fn line(&mut self, line: &str) -> Result<(), Exit> {
        done(writeln!(self.out, "{line}"))
    }

    /// Lets a reader see what was written so far.
    pub(crate) fn flush(&mut self) -> Result<(), Exit> {
        done(self.out.flush())
    }

    /// Writes what is left at the end of the run.
    pub(crate) fn end(mut self, end: Option<&RunEnd>) -> Exit {
        let written = match (&mut self.form, end) {
            (Form::Text(None), Some(end)) if end.failure.is_none() => {
                let text = end.text.trim_end();
                let shown = if io::stdout().is_terminal() { visible(text) } else { text.into() };
                writeln!(self.out, "{shown}")
            }
            (Form::Text(Some(words)), _) => words.end_line(&mut self.out),
            _ => Ok(()),
        };
        if let Err(exit) = done(written.and_then(|()| self.out.flush())) {
            return exit;
        }
        if let (Form::Text(_), Some(end)) = (&self.form, end) {
            tell_end(end);
        }
        Exit::Ok
    }

    fn tell_tools(&mut self, event: &SessionEvent) -> Result<(), Exit> {
        let line = match event {
            SessionEvent::ToolDone(done) => tool_line(done),
            SessionEvent::Retrying { message_id, attempt, max, failure, .. } => {
                let stands = message_id.is_some() && self.form.shows_words();
                let void = if stands { "; the answer above is void" } else { "" };
                let why = visible_line(&failure.message);
                format!("  {why}{void}; trying again ({attempt} of {max})")
            }
            SessionEvent::Notice { text, .. } => format!("  {}", visible(text)),
            _ => return Ok(()),
        };
        // Words that stand in a line of the same terminal end there first.
        if let Form::Text(Some(words)) = &mut self.form
            && words.is_terminal
        {
            done(words.end_line(&mut self.out).and_then(|()| self.out.flush()))?;
        }
        tell(&line);
        Ok(())
    }
}

fn tool_line(done: &ToolDone) -> String {
    let (plain, mark) = (!io::stderr().is_terminal(), if done.ok { "+" } else { "x" });
    let changes: String =
        done.diffs.iter().map(|diff| format!("  +{} -{}", diff.added, diff.removed)).collect();
    let why = match (done.ok, done.denied_by) {
        (true, _) => String::new(),
        (false, Some(by)) => format!("  (refused: {})", by.name()),
        (false, None) => "  (failed)".to_owned(),
    };
    let line = format!("  {mark} {}{changes}{why}", visible_line(&done.title));
    if plain { line } else { format!("\x1b[2m{line}\x1b[0m") }
}

fn tell_end(end: &RunEnd) {
    match (end.reason, &end.failure) {
        (RunReason::End, _) => {}
        (RunReason::Failed, Some(failure)) => {
            exit::fail(Exit::Failed, &failure.message, failure.hint.as_deref());
        }
        (RunReason::HookStopped, _) => tell("a hook ended the turn; the session is kept"),
        (RunReason::Blocked, _) => {
            tell(&format!("a hook kept the message back: {}", visible_line(&end.text)));
        }
        (RunReason::Turns, _) => tell("the limit of turns was reached; the session is kept"),
        (_, _) => tell("interrupted; the session is kept"),
    }
}

/// A line on standard error; nobody may read it.
fn tell(line: &str) {
    writeln!(io::stderr(), "{line}").unwrap_or_default();
}

fn done(result: io::Result<()>) -> Result<(), Exit> {
    match result {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Exit::Ok),
        Err(error) => Err(exit::fail(
            Exit::Failed,
            &format!("cannot write to standard output: {error}"),
            None,
        )),
    }
}
