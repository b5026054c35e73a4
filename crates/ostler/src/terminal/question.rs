//! Questions and plans on the terminal: options by number, or the person's own words.

use std::io::{self, BufRead, Write};

use ostler_host::{Answer, AnswerSource, answered_question, core::AskedEvent, open_question};
use ostler_protocol::event::{QuestionAsked, QuestionKind, QuestionSpec};
use serde_json::json;

use crate::visible::{visible, visible_line};

/// Asks, if the call is a question or a plan.
pub(super) fn ask(
    asked: &AskedEvent,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> Option<Answer> {
    let question = open_question(asked)?;
    // A terminal that is gone answers nothing, and nothing is agreed to.
    Some(answer(asked, &question, input, output).unwrap_or_else(|_| refused(None)))
}

fn answer(
    asked: &AskedEvent,
    question: &QuestionAsked,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<Answer> {
    match question.kind {
        QuestionKind::Plan => plan(asked, question, input, output),
        QuestionKind::Question => {
            let mut answers = Vec::new();
            for spec in &question.questions {
                let Some(given) = one(spec, input, output)? else { return Ok(refused(None)) };
                answers.push(given);
            }
            Ok(allowed(answered_question(&asked.args, &question.questions, answers)))
        }
    }
}

/// One question; `None`: the person does not answer.
fn one(
    spec: &QuestionSpec,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<Option<String>> {
    writeln!(output, "\n{}", visible(&spec.question))?;
    for (at, option) in spec.options.iter().enumerate() {
        let gap = if option.description.is_empty() { "" } else { ": " };
        writeln!(
            output,
            "  {}. {}{gap}{}",
            at + 1,
            visible_line(&option.label),
            visible_line(&option.description)
        )?;
    }
    let several = if spec.multiple { ", several with commas" } else { "" };
    write!(output, "a number{several}, your own words, or nothing to skip: ")?;
    output.flush()?;
    let line = read(input)?;
    if line.is_empty() {
        return Ok(None);
    }
    Ok(Some(labels(spec, &line).unwrap_or(line)))
}

/// The labels that a line of numbers names; `None` if it is no such line.
fn labels(spec: &QuestionSpec, line: &str) -> Option<String> {
    let label = |number: &str| {
        let at = number.trim().parse::<usize>().ok()?.checked_sub(1)?;
        spec.options.get(at).map(|option| option.label.as_str())
    };
    let picked = line.split(',').map(label).collect::<Option<Vec<_>>>()?;
    (spec.multiple || picked.len() == 1).then(|| picked.join(", "))
}

fn plan(
    asked: &AskedEvent,
    question: &QuestionAsked,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<Answer> {
    writeln!(output, "\n{}\n", visible(question.plan.as_deref().unwrap_or("(the plan is empty)")))?;
    write!(output, "[y] carry it out, [e] and accept edits, [n]o, or say what is wrong with it: ")?;
    output.flush()?;
    let line = read(input)?;
    let mut args = asked.args.clone();
    Ok(match line.as_str() {
        "y" | "Y" | "yes" => allowed(args),
        "e" | "E" => {
            args.insert("mode".to_owned(), json!("acceptEdits"));
            allowed(args)
        }
        "" | "n" | "N" | "no" => refused(None),
        _ => refused(Some(line)),
    })
}

fn read(input: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim().to_owned())
}

fn allowed(args: serde_json::Map<String, serde_json::Value>) -> Answer {
    Answer::Allow {
        updated_input: Some(args),
        decision: "allow-once".to_owned(),
        edited_rule: None,
    }
}

fn refused(reason: Option<String>) -> Answer {
    Answer::Deny { message: None, reason, interrupt: false, source: AnswerSource::Person }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use super::*;

    fn asked(tool: &str, args: Value) -> AskedEvent {
        AskedEvent {
            request_id: "r".into(),
            tool_call_id: "c".into(),
            tool_name: tool.to_owned(),
            args: args.as_object().unwrap().clone(),
            mode: ostler_protocol::Mode::Plan,
            question: ostler_host::core::Question::default(),
        }
    }

    fn questions() -> AskedEvent {
        let option = |label: &str| json!({"label": label, "description": "d\u{1b}[31m"});
        let options = json!([option("red"), option("blue")]);
        asked(
            "AskUserQuestion",
            json!({"questions": [
                {"question": "Which?", "header": "h", "options": options, "multiSelect": true},
                {"question": "Why?", "header": "h", "options": options}
            ]}),
        )
    }

    fn given(asked: &AskedEvent, typed: &str) -> (Option<Map<String, Value>>, String) {
        let mut shown = Vec::new();
        let answer = ask(asked, &mut typed.as_bytes(), &mut shown).unwrap();
        let input = match answer {
            Answer::Allow { updated_input, .. } => updated_input,
            Answer::Deny { .. } => None,
        };
        (input, String::from_utf8(shown).unwrap())
    }

    #[test]
    fn numbers_and_words_are_answers() {
        let (input, shown) = given(&questions(), "1, 2\nbecause\n");
        assert_eq!(input.unwrap()["answers"], json!({"Which?": "red, blue", "Why?": "because"}));
        assert!(shown.contains("  2. blue: d") && !shown.contains('\u{1b}'), "{shown}");
        let (input, _) = given(&questions(), "2\n1,2\n");
        assert_eq!(input.unwrap()["answers"]["Why?"], "1,2", "one can be chosen, so this is text");
    }

    #[test]
    fn nothing_typed_agrees_to_nothing() {
        for typed in ["", "\n", "1\n"] {
            assert_eq!(given(&questions(), typed).0, None, "{typed:?}");
        }
        let plan = asked("ExitPlanMode", json!({"plan": "Do it."}));
        for typed in ["", "\n", "n\n", "not like that\n"] {
            assert_eq!(given(&plan, typed).0, None, "{typed:?}");
        }
        assert_eq!(given(&plan, "y\n").0.unwrap().get("mode"), None);
        assert_eq!(given(&plan, "e\n").0.unwrap()["mode"], "acceptEdits");
        assert!(ask(&asked("Bash", json!({})), &mut &b""[..], &mut Vec::new()).is_none());
    }
}
