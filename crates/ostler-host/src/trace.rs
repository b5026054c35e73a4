//! What a session did and why, from its log: runs, answers and retries of the model, hooks,
//! verdicts, questions, and how long each call took. Reads only; takes no lock, so a session
//! that runs can be looked at.

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader},
};

use ostler_protocol::{ErrorKind, RpcError};
use serde::Serialize;
use serde_json::Value;

use crate::host::Host;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TraceRow {
    /// When, ms since the epoch.
    pub at: i64,
    /// What.
    #[serde(flatten)]
    pub what: Traced,
}

/// What a session's log tells of its work.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Traced {
    /// A run began.
    Run {
        /// The prompt.
        prompt: String,
    },
    /// The model was asked again.
    Retry {
        /// Which attempt comes next.
        attempt: u64,
        /// The last attempt.
        max: u64,
        /// The pause before it.
        delay_ms: u64,
        /// What went wrong.
        error: String,
    },
    /// The model answered.
    Answer {
        /// The model.
        model: String,
        /// Why it stopped.
        stop_reason: String,
        /// Input tokens, cached ones included.
        input_tokens: u64,
        /// Output tokens.
        output_tokens: u64,
        /// Since it was asked.
        ms: i64,
    },
    /// A call was judged.
    Verdict {
        /// The call.
        tool_call_id: String,
        /// Its tool.
        tool: String,
        /// `allow`, `ask` or `deny`.
        verdict: String,
        /// What decided: `rule`, `mode`, `person` and so on.
        by: String,
        /// In words.
        reason: String,
        /// The rule, as written.
        #[serde(skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
        /// Where the rule stands.
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<String>,
    },
    /// A question was answered or withdrawn.
    Answered {
        /// The call.
        tool_call_id: String,
        /// Its tool.
        tool: String,
        /// `allow-once`, ..., `deny`, `timeout`, `withdrawn`.
        decision: String,
        /// The person's reason.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Since it was asked.
        ms: i64,
    },
    /// A call is over.
    Tool {
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool: String,
        /// Whether it succeeded.
        ok: bool,
        /// How long it ran; absent if it never did.
        #[serde(skip_serializing_if = "Option::is_none")]
        ms: Option<u64>,
        /// What refused it.
        #[serde(skip_serializing_if = "Option::is_none")]
        denied_by: Option<String>,
    },
    /// A hook ran.
    Hook {
        /// Its name.
        name: String,
        /// The event that it ran for.
        event: String,
        /// `success`, `error` or `cancelled`.
        outcome: String,
        /// How long it ran.
        ms: u64,
        /// Why it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
        /// Why it stood in the way.
        #[serde(skip_serializing_if = "Option::is_none")]
        blocked: Option<String>,
    },
    /// A run is over.
    End {
        /// `end`, `interrupted`, `failed`, ...
        reason: String,
        /// What went wrong.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Since it began.
        ms: i64,
    },
}

/// A moment in UTC to the second, for people.
#[must_use]
pub fn utc_stamp(at_ms: i64) -> String {
    let stamp = jiff::Timestamp::from_millisecond(at_ms).unwrap_or_default();
    stamp.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

impl Host {
    /// What a session did, in the order of its log.
    ///
    /// # Errors
    /// `not_found`, `storage`.
    pub fn trace(&self, session_id: &str) -> Result<Vec<TraceRow>, RpcError> {
        let found = self.store().find(session_id).ok_or_else(|| {
            RpcError::new(ErrorKind::NotFound, format!("there is no session `{session_id}`"))
                .hint("`ostler session list` names those of this folder, `--all` those of all")
        })?;
        let unreadable = |error: std::io::Error| {
            let text = format!("cannot read `{}`: {error}", found.path.display());
            RpcError::new(ErrorKind::Storage, text)
        };
        let file = std::fs::File::open(&found.path).map_err(unreadable)?;
        let mut reader = Reader::default();
        for line in BufReader::new(file).split(b'\n') {
            // Lines that are torn or of another kind say nothing here.
            if let Ok(line) = serde_json::from_slice::<Value>(&line.map_err(unreadable)?) {
                reader.line(&line);
            }
        }
        Ok(reader.rows)
    }
}

/// What must be known of earlier lines.
#[derive(Debug, Default)]
struct Reader {
    rows: Vec<TraceRow>,
    prompts: HashMap<String, String>,
    /// Tools of calls, and whether their results are failures.
    tools: HashMap<String, (String, bool)>,
    asked: HashMap<String, (String, i64)>,
    model: String,
    run_at: i64,
    /// When the model was asked last: at the run's begin, or when the results were there.
    model_at: i64,
}

fn text(line: &Value, key: &str) -> String {
    line[key].as_str().unwrap_or_default().to_owned()
}

fn optional(line: &Value, key: &str) -> Option<String> {
    line[key].as_str().map(str::to_owned)
}

fn at(line: &Value) -> i64 {
    let stamp = line["timestamp"].as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    stamp.map_or(0, jiff::Timestamp::as_millisecond)
}

impl Reader {
    fn push(&mut self, at: i64, what: Traced) {
        self.rows.push(TraceRow { at, what });
    }

    fn tool(&self, id: &str) -> String {
        self.tools.get(id).map(|(name, _)| name.clone()).unwrap_or_default()
    }

    fn line(&mut self, line: &Value) {
        match line["type"].as_str() {
            Some("user") => self.user(line),
            Some("assistant") => self.assistant(line),
            Some("ostler") => self.own(line),
            _ => {}
        }
    }

    fn user(&mut self, line: &Value) {
        let content = &line["message"]["content"];
        let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
        for block in blocks.iter().filter(|block| block["type"] == "tool_result") {
            if let Some((_, failed)) = self.tools.get_mut(&text(block, "tool_use_id")) {
                *failed = block["is_error"] == true;
            }
            self.model_at = at(line);
        }
        let words = blocks.iter().filter_map(|block| block["text"].as_str());
        let words =
            content.as_str().map_or_else(|| words.collect::<Vec<_>>().join("\n"), str::to_owned);
        self.prompts.insert(text(line, "uuid"), words);
    }

    fn assistant(&mut self, line: &Value) {
        self.model = text(&line["message"], "model");
        let blocks = line["message"]["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        for block in blocks.iter().filter(|block| block["type"] == "tool_use") {
            self.tools.insert(text(block, "id"), (text(block, "name"), false));
        }
    }

    fn own(&mut self, line: &Value) {
        let now = at(line);
        let call = text(line, "toolUseId");
        let what = match line["kind"].as_str() {
            Some("run_started") => {
                (self.run_at, self.model_at) = (now, now);
                let prompt = self.prompts.remove(&text(line, "prompt")).unwrap_or_default();
                Traced::Run { prompt }
            }
            Some("retried") => Traced::Retry {
                attempt: line["attempt"].as_u64().unwrap_or(0),
                max: line["max"].as_u64().unwrap_or(0),
                delay_ms: line["delayMs"].as_u64().unwrap_or(0),
                error: text(line, "message"),
            },
            Some("response") => self.answer(line, now),
            Some("verdict") => Traced::Verdict {
                tool: self.tool(&call),
                tool_call_id: call,
                verdict: text(line, "verdict"),
                by: text(line, "by"),
                reason: text(line, "reason"),
                rule: optional(line, "rule"),
                source: optional(line, "source"),
            },
            Some("asked") => {
                self.asked.insert(text(line, "requestId"), (call, now));
                return;
            }
            Some("answered") => {
                let Some((call, since)) = self.asked.remove(&text(line, "requestId")) else {
                    return;
                };
                Traced::Answered {
                    tool: self.tool(&call),
                    tool_call_id: call,
                    decision: text(line, "decision"),
                    reason: optional(line, "reason"),
                    ms: now - since,
                }
            }
            Some("tool") => Traced::Tool {
                tool: self.tool(&call),
                ok: self.tools.get(&call).is_some_and(|(_, failed)| !failed),
                tool_call_id: call,
                ms: line["ms"].as_u64(),
                denied_by: optional(line, "deniedBy"),
            },
            Some("hook") => Traced::Hook {
                name: text(line, "name"),
                event: text(line, "event"),
                outcome: text(line, "outcome"),
                ms: line["ms"].as_u64().unwrap_or(0),
                problem: optional(line, "problem"),
                blocked: optional(line, "blocked"),
            },
            Some("run_ended") => Traced::End {
                reason: text(line, "reason"),
                message: optional(line, "message"),
                ms: now - self.run_at,
            },
            _ => return,
        };
        self.push(now, what);
    }

    fn answer(&self, line: &Value, now: i64) -> Traced {
        let tokens = |key: &str| line["usage"][key].as_u64().unwrap_or(0);
        Traced::Answer {
            model: self.model.clone(),
            stop_reason: text(line, "stopReason"),
            input_tokens: tokens("input_tokens")
                + tokens("cache_read_input_tokens")
                + tokens("cache_creation_input_tokens"),
            output_tokens: tokens("output_tokens"),
            ms: now - self.model_at,
        }
    }
}
