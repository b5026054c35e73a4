//! What is told of a command that ended: to the model as text, to hosts as the structured
//! output of agent-sdk.md section 6.

use std::time::Duration;

use ostler_protocol::{Block, MediaSource};
use ostler_sandbox::{Captured, Exit};
use ostler_stdx::bound_middle;
use ostler_tool::ToolOutput;
use serde_json::{Value, json};

use crate::plain::strip_controls;

/// What is told besides the command's own end.
#[derive(Debug)]
pub(super) struct Around<'a> {
    pub(super) command: &'a str,
    pub(super) timeout: Duration,
    /// A note about the folder.
    pub(super) note: Option<String>,
    /// The call under which the whole output is kept, and its size.
    pub(super) kept: Option<(&'a str, u64)>,
    /// Most bytes that are shown.
    pub(super) cap: usize,
}

pub(super) fn told(exit: &Exit, around: Around<'_>) -> ToolOutput {
    let meaning = exit.code.and_then(|code| interpretation(around.command, code));
    let mut text = ending(exit, around.timeout, meaning);
    text.push_str(&bounded(&exit.combined, around.cap, around.kept));
    if let Some(note) = &around.note {
        text.push_str(if text.is_empty() || text.ends_with('\n') { "" } else { "\n" });
        text.push_str(note);
    }
    let text = match text.trim_end() {
        "" => "(Bash completed with no output)".to_owned(),
        text => text.to_owned(),
    };
    let picture = picture(&exit.stdout);
    let mut structured = structured(exit, &around, picture.is_some());
    if let Some(meaning) = meaning {
        structured["returnCodeInterpretation"] = json!(meaning);
    }
    match picture {
        Some(source) => ToolOutput::blocks(vec![Block::Image { source }], structured),
        None => ToolOutput::text(text, structured),
    }
}

fn structured(exit: &Exit, around: &Around<'_>, is_image: bool) -> Value {
    let stderr = bounded(&exit.stderr, around.cap, None);
    let stderr: Vec<_> = [Some(stderr), around.note.clone()]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    let mut structured = json!({
        "stdout": bounded(&exit.stdout, around.cap, None),
        "stderr": stderr.join("\n"),
        "interrupted": exit.timed_out,
        "isImage": is_image,
        "noOutputExpected": false,
    });
    if exit.timed_out {
        let ms = u64::try_from(around.timeout.as_millis()).unwrap_or(u64::MAX);
        structured["timedOutAfterMs"] = json!(ms);
    }
    if let Some((_, bytes)) = around.kept {
        structured["persistedOutputSize"] = json!(bytes);
    }
    structured
}

/// The line that says how it ended; nothing if it went well.
fn ending(exit: &Exit, timeout: Duration, meaning: Option<&str>) -> String {
    let meaning = meaning.map(|meaning| format!(" ({meaning})")).unwrap_or_default();
    match (exit.timed_out, exit.code, exit.signal) {
        (true, _, _) => format!("Command timed out after {}\n", spoken(timeout)),
        (false, Some(0), _) => String::new(),
        (false, Some(code), _) => format!("Exit code {code}{meaning}\n"),
        (false, None, Some(signal)) => format!("Ended by signal {signal}\n"),
        (false, None, None) => "Did not end\n".to_owned(),
    }
}

/// What a code means that is no failure, for the programs where that misleads: judged by
/// the last program of the command, whose code the shell gives.
fn interpretation(command: &str, code: i32) -> Option<&'static str> {
    let last = command.rsplit(['|', ';', '&', '\n']).find(|part| !part.trim().is_empty())?;
    let program = last.split_whitespace().find(|word| !word.contains('='))?;
    let program = program.rsplit('/').next()?;
    match (program, code) {
        ("grep" | "egrep" | "fgrep" | "rg" | "ag", 1) => Some("no matches found"),
        ("diff" | "cmp", 1) => Some("the files differ"),
        ("test" | "[" | "[[", 1) => Some("the condition is false"),
        ("find", 1) => Some("some folders could not be read"),
        _ => None,
    }
}

/// Output as plain text within the cap: two thirds of it from the start. Says where the
/// whole is.
pub(crate) fn bounded(output: &Captured, cap: usize, kept: Option<(&str, u64)>) -> String {
    let text = strip_controls(&output.to_text());
    let hint = match (kept, output.omitted()) {
        (Some((id, bytes)), _) => format!("all {bytes} bytes: Output with id \"{id}\""),
        (None, 0) => String::new(),
        (None, _) => format!("{} bytes were written in all", output.total()),
    };
    bound_middle(text.trim_end(), cap - cap / 3, cap / 3, &hint).text
}

/// A picture that the command wrote as a `data:` address, and nothing else.
fn picture(stdout: &Captured) -> Option<MediaSource> {
    if stdout.omitted() > 0 {
        return None;
    }
    let text = stdout.to_text();
    let (media_type, data) = text.trim().strip_prefix("data:")?.split_once(";base64,")?;
    let known = ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&media_type);
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    (known && !data.is_empty() && data.bytes().all(is_base64))
        .then(|| MediaSource::Base64 { media_type: media_type.to_owned(), data: data.to_owned() })
}

fn spoken(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis()) {
        (seconds, 0) => format!("{seconds} s"),
        _ => format!("{} ms", time.as_millis()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_are_no_failure_are_explained() {
        let table = [
            ("grep x file", 1, Some("no matches found")),
            ("cat a | /usr/bin/grep x", 1, Some("no matches found")),
            ("LC_ALL=C rg x", 1, Some("no matches found")),
            ("grep x file", 2, None),
            ("diff a b", 1, Some("the files differ")),
            ("grep x; false", 1, None),
            ("", 1, None),
        ];
        for (command, code, expected) in table {
            assert_eq!(interpretation(command, code), expected, "{command}");
        }
    }
}
