//! What `run` writes: the answer on standard output, the rest on standard error.

use std::io::{self, BufWriter, IsTerminal as _, Write as _};

use ostler_agent_sdk::{Projector, ProjectorOptions};
use ostler_host::{LiveSession, RunEnd, RunReason, SessionEvent, core::event::ToolDone};

use crate::{
    args::{OutputFormat, RunArgs},
    exit::{self, Exit},
};

/// Writes what happens, as the output format says.
pub(crate) struct Output {
    out: BufWriter<io::Stdout>,
    form: Form,
    /// Whether standard error shows what tools do.
    tells: bool,
}

enum Form {
    /// The answer; streamed where a person looks, else the last words at the end.
    Text { streams: bool, column: usize, paragraphs: u32 },
    /// Frames of the Agent SDK; `last` keeps only the result.
    Frames { projector: Box<Projector>, only_result: bool },
    /// Lines that come ready.
    Lines,
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
            OutputFormat::Text => Form::Text { streams: !print, column: 0, paragraphs: 0 },
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
            tell(&format!("ostler: {line}"));
        }
    }

    /// Writes one event.
    pub(crate) fn event(&mut self, event: &SessionEvent) -> Result<(), Exit> {
        if self.tells {
            self.tell_tools(event);
        }
        let written = match &mut self.form {
            Form::Text { streams: true, column, paragraphs } => {
                stream(&mut self.out, event, column, paragraphs)
            }
            Form::Text { streams: false, .. } | Form::Lines => Ok(()),
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
        let written = match (&self.form, end) {
            (Form::Text { streams: false, .. }, Some(end)) if end.failure.is_none() => {
                writeln!(self.out, "{}", end.text.trim_end())
            }
            (Form::Text { streams: true, column: 1.., .. }, _) => writeln!(self.out),
            _ => Ok(()),
        };
        if let Err(exit) = done(written.and_then(|()| self.out.flush())) {
            return exit;
        }
        if let (Form::Text { .. }, Some(end)) = (&self.form, end) {
            tell_end(end);
        }
        Exit::Ok
    }

    fn tell_tools(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::ToolDone(done) => tell(&tool_line(done)),
            SessionEvent::Retrying { attempt, max, failure, .. } => {
                tell(&format!("  {}; trying again ({attempt} of {max})", failure.message));
            }
            SessionEvent::Notice { text, .. } => tell(&format!("  {text}")),
            _ => {}
        }
    }
}

/// Words as they come; a blank line between answers.
fn stream(
    out: &mut BufWriter<io::Stdout>,
    event: &SessionEvent,
    column: &mut usize,
    paragraphs: &mut u32,
) -> io::Result<()> {
    match event {
        SessionEvent::BlockStarted { kind: ostler_host::BlockKind::Text, .. } => {
            let gap = if *paragraphs == 0 {
                ""
            } else if *column > 0 {
                "\n\n"
            } else {
                "\n"
            };
            *paragraphs += 1;
            *column = 0;
            out.write_all(gap.as_bytes())
        }
        SessionEvent::TextDelta(delta) => {
            *column = if delta.text.ends_with('\n') { 0 } else { 1 };
            out.write_all(delta.text.as_bytes())
        }
        _ => Ok(()),
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
    let line = format!("  {mark} {}{changes}{why}", done.title);
    if plain { line } else { format!("\x1b[2m{line}\x1b[0m") }
}

fn tell_end(end: &RunEnd) {
    match (end.reason, &end.failure) {
        (RunReason::End, _) => {}
        (RunReason::Failed, Some(failure)) => {
            exit::fail(Exit::Failed, &failure.message, failure.hint.as_deref());
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
