//! `trace`: what a session did, a line for each thing, with the time since its run began.

use ostler_host::{Host, TraceRow, Traced};

use crate::{
    args::TraceArgs,
    exit::Exit,
    housekeeping::{json, one_line, with_host},
    visible::visible_line,
};

/// Characters of a prompt or an error in one line.
const WORDS: usize = 100;

/// `trace`.
pub(crate) fn trace(args: &TraceArgs) -> Exit {
    with_host(
        async |host: &Host| host.trace(&args.session),
        |rows| if args.json { json(&rows) } else { shown(&rows) },
    )
}

fn shown(rows: &[TraceRow]) -> String {
    let mut text = String::new();
    let mut began = rows.first().map_or(0, |row| row.at);
    for row in rows {
        if let Traced::Run { prompt } = &row.what {
            began = row.at;
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}{}  {}\n", stamp(row.at), words(prompt)));
            continue;
        }
        text.push_str(&format!("  +{:>9}  {}\n", seconds(row.at - began), line(&row.what)));
    }
    text
}

fn line(what: &Traced) -> String {
    match what {
        Traced::Run { prompt } => words(prompt),
        Traced::Retry { attempt, max, delay_ms, error } => {
            format!("retry   {attempt} of {max} after {delay_ms} ms: {}", words(error))
        }
        Traced::Answer { model, stop_reason, input_tokens, output_tokens, ms } => format!(
            "model   {} {}, {input_tokens} in, {output_tokens} out, {ms} ms",
            visible_line(model),
            visible_line(stop_reason)
        ),
        Traced::Verdict { tool, verdict, by, reason, rule, source, .. } => {
            let reason =
                if reason.is_empty() { String::new() } else { format!(": {}", words(reason)) };
            let rule = rule.as_ref().map(|rule| {
                let of = source.as_ref().map(|source| format!(" of {source}")).unwrap_or_default();
                visible_line(&format!(", rule `{rule}`{of}")).into_owned()
            });
            let rule = rule.unwrap_or_default();
            format!("{verdict:<7} {} by {}{reason}{rule}", visible_line(tool), visible_line(by))
        }
        Traced::Answered { tool, decision, reason, ms, .. } => {
            let reason = reason.as_ref().map(|reason| format!(": {}", words(reason)));
            let reason = reason.unwrap_or_default();
            format!(
                "person  {} {} after {ms} ms{reason}",
                visible_line(tool),
                visible_line(decision)
            )
        }
        Traced::Tool { tool, ok, ms, denied_by, .. } => {
            let how = match (ok, denied_by) {
                (_, Some(by)) => format!("did not run ({by})"),
                (true, None) => "succeeded".to_owned(),
                (false, None) => "failed".to_owned(),
            };
            let ms = ms.map(|ms| format!(", {ms} ms")).unwrap_or_default();
            format!("tool    {} {}{ms}", visible_line(tool), visible_line(&how))
        }
        Traced::Hook { name, event, outcome, ms, problem, blocked } => {
            let why = match (blocked, problem) {
                (Some(why), _) => format!(", blocked: {}", words(why)),
                (None, Some(why)) => format!(": {}", words(why)),
                (None, None) => String::new(),
            };
            let (name, event) = (visible_line(name), visible_line(event));
            format!("hook    {name} for {event} {}, {ms} ms{why}", visible_line(outcome))
        }
        Traced::End { reason, message, ms } => {
            let message = message.as_ref().map(|message| format!(": {}", words(message)));
            format!("end     {} after {ms} ms{}", visible_line(reason), message.unwrap_or_default())
        }
    }
}

fn words(text: &str) -> String {
    visible_line(&one_line(text, WORDS)).into_owned()
}

fn seconds(ms: i64) -> String {
    format!("{}.{:03} s", ms / 1000, (ms % 1000).abs())
}

/// The moment in UTC, to the second.
fn stamp(at: i64) -> String {
    ostler_host::utc_stamp(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_what_decided_and_cannot_steer_the_terminal() {
        let row = |at, what| TraceRow { at, what };
        let verdict = Traced::Verdict {
            tool_call_id: "t".to_owned(),
            tool: "Bash".to_owned(),
            verdict: "ask".to_owned(),
            by: "rule".to_owned(),
            reason: "the rule asks\u{1b}[2J".to_owned(),
            rule: Some("Bash(x)".to_owned()),
            source: Some("/p/.ostler/settings.json".to_owned()),
        };
        let tool = Traced::Tool {
            tool_call_id: "t".to_owned(),
            tool: "Bash".to_owned(),
            ok: true,
            ms: Some(12),
            denied_by: None,
        };
        let text = shown(&[
            row(1_000, Traced::Run { prompt: "one\ntwo".to_owned() }),
            row(1_250, verdict),
            row(63_000, tool),
        ]);
        assert!(!text.contains('\u{1b}'));
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].ends_with("  one two"), "{text}");
        assert!(
            lines[1].starts_with("  +  0.250 s  ask     Bash by rule: the rule asks"),
            "{text}"
        );
        assert!(lines[1].ends_with("rule `Bash(x)` of /p/.ostler/settings.json"), "{text}");
        assert_eq!(lines[2], "  + 62.000 s  tool    Bash succeeded, 12 ms");
    }
}
