//! The model's words on standard output. A person sees them as they come; a pipe gets an
//! answer when it is whole, because words of an attempt that failed cannot be taken back.

use std::io::{self, Write};

use ostler_host::{BlockKind, SessionEvent};
use ostler_protocol::conversation::Block;

use crate::visible::visible;

/// Where the words of a run stand.
pub(super) struct Words {
    /// Whether a person looks: words come at once, and nothing of them steers the terminal.
    pub(super) is_terminal: bool,
    /// Text blocks of the answer that is being given, for a pipe.
    held: Vec<String>,
    /// Whether something stands in the present line.
    in_line: bool,
    paragraphs: u32,
}

impl Words {
    pub(super) fn new(is_terminal: bool) -> Self {
        Self { is_terminal, held: Vec::new(), in_line: false, paragraphs: 0 }
    }

    /// Writes what an event adds.
    ///
    /// # Errors
    /// The reader is gone.
    pub(super) fn event(&mut self, out: &mut impl Write, event: &SessionEvent) -> io::Result<()> {
        match event {
            SessionEvent::BlockStarted { kind: BlockKind::Text, .. } if self.is_terminal => {
                self.paragraph(out)
            }
            SessionEvent::TextDelta(delta) if self.is_terminal => {
                self.write(out, &visible(&delta.text))
            }
            SessionEvent::BlockDone { block: Block::Text { text, .. }, .. }
                if !self.is_terminal =>
            {
                self.held.push(text.clone());
                Ok(())
            }
            SessionEvent::Retrying { message_id: Some(_), .. } => {
                self.held.clear();
                self.end_line(out)
            }
            SessionEvent::ModelDone { .. } | SessionEvent::RunEnded(_) => self.release(out),
            _ => Ok(()),
        }
    }

    /// Ends the present line, if there is something in it.
    ///
    /// # Errors
    /// The reader is gone.
    pub(super) fn end_line(&mut self, out: &mut impl Write) -> io::Result<()> {
        if std::mem::take(&mut self.in_line) { writeln!(out) } else { Ok(()) }
    }

    fn release(&mut self, out: &mut impl Write) -> io::Result<()> {
        for text in std::mem::take(&mut self.held) {
            self.paragraph(out)?;
            self.write(out, &text)?;
        }
        Ok(())
    }

    /// A blank line between answers.
    fn paragraph(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.end_line(out)?;
        let gap = if self.paragraphs == 0 { "" } else { "\n" };
        self.paragraphs += 1;
        out.write_all(gap.as_bytes())
    }

    fn write(&mut self, out: &mut impl Write, text: &str) -> io::Result<()> {
        if !text.is_empty() {
            self.in_line = !text.ends_with('\n');
        }
        out.write_all(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use ostler_host::{Failure, core::event::Delta};
    use ostler_protocol::{ErrorKind, MessageId, Usage};

    use super::*;

    fn id() -> MessageId {
        MessageId("m".into())
    }

    /// An answer that is cut off, and the whole one.
    fn retried() -> Vec<SessionEvent> {
        let delta = |text: &str| {
            SessionEvent::TextDelta(Delta { message_id: id(), block: 0, n: 0, text: text.into() })
        };
        let begin =
            || SessionEvent::BlockStarted { message_id: id(), index: 0, kind: BlockKind::Text };
        let done = |text: &str| SessionEvent::BlockDone {
            message_id: id(),
            vendor_id: String::new(),
            model: String::new(),
            uuid: String::new(),
            index: 0,
            block: Block::Text { text: text.into() },
            usage: Usage::default(),
            interrupted: false,
        };
        vec![
            begin(),
            delta("Hel"),
            done("Hel"),
            SessionEvent::Retrying {
                message_id: Some(id()),
                attempt: 2,
                max: 3,
                delay_ms: 1,
                failure: Failure {
                    kind: ErrorKind::Network,
                    message: String::new(),
                    hint: None,
                    status: None,
                    retry_after_ms: None,
                },
            },
            begin(),
            delta("Hello \x1b[31m"),
            delta("you"),
            done("Hello \x1b[31myou"),
            SessionEvent::ModelDone {
                message_id: id(),
                text: String::new(),
                thinking: String::new(),
                stop_reason: ostler_host::StopReason::EndTurn,
                usage: Usage::default(),
                total: Usage::default(),
                window: None,
            },
        ]
    }

    fn written(is_terminal: bool) -> String {
        let mut words = Words::new(is_terminal);
        let mut out = Vec::new();
        for event in retried() {
            words.event(&mut out, &event).unwrap();
        }
        words.end_line(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_pipe_gets_the_words_of_an_answer_once_and_as_they_are() {
        assert_eq!(written(false), "Hello \x1b[31myou\n");
    }

    #[test]
    fn a_terminal_gets_them_as_they_come_and_is_not_steered() {
        assert_eq!(written(true), "Hel\n\nHello \u{241b}[31myou\n");
    }
}
