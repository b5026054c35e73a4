//! Asking for permission on the terminal: the whole of what would happen, then one line.
//!
//! Everything in the question comes from the model or the repository and is shown so that
//! it cannot steer the terminal. Whatever is not a clear yes is a no.

use std::io::{BufRead, Write};

use ostler_host::{Decision, core::AskedEvent};
use ostler_protocol::{DiffOp, session::PermissionDecision};

use crate::visible::{visible, visible_line};

/// Lines of a file's changes that a question shows.
const DIFF_LINES: usize = 40;

/// Asks, and reads the answer. A terminal that is gone agrees to nothing.
pub(super) fn ask(
    asked: &AskedEvent,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> Decision {
    let mut line = String::new();
    let read = output
        .write_all(shown(asked).as_bytes())
        .and_then(|()| output.flush())
        .and_then(|()| input.read_line(&mut line));
    let allow = |scope| Decision::Allow { scope, rules: None, args: None };
    let lasting = asked.question.suggested_rule.is_some();
    match (read, line.trim()) {
        (Ok(1..), "y" | "Y" | "yes") => allow(PermissionDecision::AllowOnce),
        (Ok(1..), "a" | "A" | "always") if lasting => allow(PermissionDecision::AllowSession),
        (Ok(1..), "p" | "P") if lasting => allow(PermissionDecision::AllowProject),
        (Ok(1..), "u" | "U") if lasting => allow(PermissionDecision::AllowAlways),
        (Ok(1..), "" | "n" | "N" | "no" | "a" | "A" | "always" | "p" | "P" | "u" | "U")
        | (Ok(0) | Err(_), _) => Decision::Deny { reason: None },
        (Ok(1..), reason) => Decision::Deny { reason: Some(reason.to_owned()) },
    }
}

fn shown(asked: &AskedEvent) -> String {
    let question = &asked.question;
    let mut text =
        format!("\n{}: {}\n", visible_line(&asked.tool_name), visible_line(&question.title));
    if let Some(command) = asked.args.get("command").and_then(serde_json::Value::as_str) {
        text.push_str(&format!("  $ {}\n", visible(command).replace('\n', "\n    ")));
    }
    for span in &question.spans {
        text.push_str(&format!("  look: {}\n", visible_line(&span.why)));
    }
    if let Some(reason) = &question.reason {
        text.push_str(&format!("  asked because: {}\n", visible_line(reason)));
    }
    push_diff(&mut text, asked);
    if let Some(rule) = &question.suggested_rule {
        text.push_str(&format!(
            "  [a]lways in this session, in this [p]roject, or for this [u]ser: {}\n",
            visible_line(rule)
        ));
    }
    text.push_str("[y] once, [n]o, or say why not: ");
    text
}

fn push_diff(text: &mut String, asked: &AskedEvent) {
    for diff in &asked.question.diffs {
        text.push_str(&format!(
            "  {} +{} -{}\n",
            visible_line(&diff.path),
            diff.added,
            diff.removed
        ));
        let lines: Vec<_> = diff.hunks.iter().flat_map(|hunk| &hunk.lines).collect();
        for line in lines.iter().take(DIFF_LINES) {
            let sign = match line.op {
                DiffOp::Context => ' ',
                DiffOp::Added => '+',
                DiffOp::Removed => '-',
            };
            text.push_str(&format!("  {sign} {}\n", visible_line(&line.text)));
        }
        if let Some(more) = lines.len().checked_sub(DIFF_LINES).filter(|more| *more > 0) {
            text.push_str(&format!("  (and {more} more lines)\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use ostler_host::core::Question;
    use serde_json::json;

    use super::*;

    fn asked(command: &str, rule: Option<&str>) -> AskedEvent {
        let args = json!({"command": command});
        AskedEvent {
            request_id: "r".into(),
            tool_call_id: "c".into(),
            tool_name: "Bash".to_owned(),
            args: args.as_object().unwrap().clone(),
            mode: ostler_protocol::Mode::Default,
            question: Question {
                title: "Run a command".to_owned(),
                suggested_rule: rule.map(str::to_owned),
                ..Question::default()
            },
        }
    }

    fn typed(asked: &AskedEvent, line: &str) -> (Decision, String) {
        let mut shown = Vec::new();
        let decision = ask(asked, &mut line.as_bytes(), &mut shown);
        (decision, String::from_utf8(shown).unwrap())
    }

    #[test]
    fn each_letter_is_its_decision_and_nothing_else_is_a_yes() {
        let allow = |scope| Decision::Allow { scope, rules: None, args: None };
        let no = || Decision::Deny { reason: None };
        let asked = asked("make", Some("Bash(make:*)"));
        for (line, decision) in [
            ("y\n", allow(PermissionDecision::AllowOnce)),
            ("a\n", allow(PermissionDecision::AllowSession)),
            ("p\n", allow(PermissionDecision::AllowProject)),
            ("u\n", allow(PermissionDecision::AllowAlways)),
            ("n\n", no()),
            ("\n", no()),
            ("", no()),
            ("yes please\n", Decision::Deny { reason: Some("yes please".to_owned()) }),
        ] {
            assert_eq!(typed(&asked, line).0, decision, "{line:?}");
        }
    }

    #[test]
    fn without_a_rule_nothing_lasting_is_offered_or_taken() {
        let asked = asked("rm -rf /", None);
        for line in ["a\n", "p\n", "u\n", "always\n"] {
            let (decision, shown) = typed(&asked, line);
            assert_eq!(decision, Decision::Deny { reason: None }, "{line:?}");
            assert!(!shown.contains("[a]"), "{shown}");
        }
    }

    #[test]
    fn all_of_a_long_command_is_shown_and_a_second_line_looks_like_one() {
        let command = format!("echo {}\ny", "x".repeat(5000));
        let (_, shown) = typed(&asked(&command, None), "n\n");
        assert!(shown.contains(&"x".repeat(5000)));
        assert!(shown.contains("\n    y\n"), "{shown}");
    }

    #[test]
    fn what_a_command_holds_cannot_steer_the_terminal() {
        let (_, shown) = typed(&asked("echo \u{1b}[2K\u{7}\r\u{202e}x", None), "n\n");
        for bad in ['\u{1b}', '\u{7}', '\r', '\u{202e}'] {
            assert!(!shown.contains(bad), "{bad:?} in {shown:?}");
        }
    }
}
