//! Asking a person on the terminal.

mod question;

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use ostler_host::{Answer, AnswerSource, core::AskedEvent};
use ostler_protocol::{DiffOp, session::PermissionDecision};

use crate::visible::{visible, visible_line};

/// Lines of a diff that a question shows.
const DIFF_LINES: usize = 40;

/// Whether a person can be asked: standard input and error are a terminal.
pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// What a person chose.
pub(crate) struct Choice {
    pub(crate) answer: Answer,
    /// The decision whose rule is to be kept.
    pub(crate) keep: Option<PermissionDecision>,
}

/// Asks on standard error and reads a line of standard input. Blocks; call it on a thread
/// of its own.
pub(crate) fn ask(asked: &AskedEvent) -> Choice {
    let answer = question::ask(asked, &mut io::stdin().lock(), &mut io::stderr());
    if let Some(answer) = answer {
        return Choice { answer, keep: None };
    }
    let mut text =
        format!("\n{}: {}\n", visible_line(&asked.tool_name), visible_line(&asked.question.title));
    if let Some(command) = asked.args.get("command").and_then(serde_json::Value::as_str) {
        text.push_str(&format!("  $ {}\n", visible(command)));
    }
    if let Some(reason) = &asked.question.reason {
        text.push_str(&format!("  asked because: {}\n", visible_line(reason)));
    }
    push_diff(&mut text, asked);
    let rule = asked.question.suggested_rule.as_deref();
    let always = rule
        .map(|rule| format!(", [a]lways in this session: {}", visible_line(rule)))
        .unwrap_or_default();
    text.push_str(&format!("[y] once{always}, [n]o, or say why not: "));
    let mut line = String::new();
    let read = write!(io::stderr(), "{text}")
        .and_then(|()| io::stderr().flush())
        .and_then(|()| io::stdin().lock().read_line(&mut line));
    match (read, line.trim()) {
        (Ok(1..), "y" | "Y" | "yes") => allow("allow-once", None),
        (Ok(1..), "a" | "A" | "always") if rule.is_some() => {
            allow("allow-session", Some(PermissionDecision::AllowSession))
        }
        (Ok(1..), "" | "n" | "N" | "no") | (Ok(0) | Err(_), _) => deny(None),
        (Ok(1..), reason) => deny(Some(reason.to_owned())),
    }
}

fn push_diff(text: &mut String, asked: &AskedEvent) {
    for diff in &asked.question.diffs {
        text.push_str(&format!(
            "  {} +{} -{}\n",
            visible_line(&diff.path),
            diff.added,
            diff.removed
        ));
        for line in diff.hunks.iter().flat_map(|hunk| &hunk.lines).take(DIFF_LINES) {
            let sign = match line.op {
                DiffOp::Context => ' ',
                DiffOp::Added => '+',
                DiffOp::Removed => '-',
            };
            text.push_str(&format!("  {sign} {}\n", visible_line(&line.text)));
        }
    }
}

fn allow(decision: &str, keep: Option<PermissionDecision>) -> Choice {
    let answer =
        Answer::Allow { updated_input: None, decision: decision.to_owned(), edited_rule: None };
    Choice { answer, keep }
}

fn deny(reason: Option<String>) -> Choice {
    let answer =
        Answer::Deny { message: None, reason, interrupt: false, source: AnswerSource::Person };
    Choice { answer, keep: None }
}
