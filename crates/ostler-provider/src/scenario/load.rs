//! Reads scenario files; every error names the file, the place and what to do.

use std::{collections::BTreeMap, path::Path, time::Duration};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Pace, Refusal, Reply, Scenario, Step, When};
use crate::StopReason;

/// Values for `${name}` in a scenario, such as `cwd`.
pub type Vars = BTreeMap<String, String>;

/// Most bytes that `repeatText` makes.
const MAX_REPEATED: usize = 64 << 20;

/// A scenario could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The file could not be read.
    #[error("cannot read scenario `{file}`: {source}; check the path after `scripted:`")]
    Read {
        /// The file.
        file: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It is not JSON.
    #[error("scenario `{file}` is not JSON: {source}; mend it at that line")]
    Syntax {
        /// The file.
        file: String,
        /// Why, with line and column.
        #[source]
        source: serde_json::Error,
    },
    /// It is JSON, but not a scenario.
    #[error("scenario `{file}` at `{place}`: {problem}")]
    Shape {
        /// The file.
        file: String,
        /// Where in it, such as `replies[0].steps[2]`.
        place: String,
        /// What is wrong and what to do.
        problem: String,
    },
}

/// What is wrong at a place; the file is added where it is known.
struct Problem {
    place: String,
    problem: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawScenario {
    name: String,
    model: Option<String>,
    #[serde(default, rename = "vars")]
    _vars: Vars,
    replies: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawReply {
    #[serde(default)]
    when: When,
    #[serde(default)]
    repeat: bool,
    steps: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawStep {
    text: Option<String>,
    repeat_text: Option<RawRepeat>,
    thinking: Option<String>,
    tool_use: Option<RawToolUse>,
    usage: Option<ostler_protocol::Usage>,
    stop_reason: Option<String>,
    error: Option<RawError>,
    stall: Option<True>,
    cut: Option<RawCut>,
    signature: Option<String>,
    chunk: Option<usize>,
    delay_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRepeat {
    text: String,
    count: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawToolUse {
    name: String,
    #[serde(default)]
    input: Option<Value>,
    input_text: Option<String>,
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawError {
    status: u16,
    #[serde(default)]
    body: Value,
    retry_after: Option<f64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawCut {
    Here(True),
    After { bytes: usize },
}

/// `true` and nothing else.
#[derive(Deserialize)]
#[serde(try_from = "bool")]
struct True;

impl TryFrom<bool> for True {
    type Error = &'static str;
    fn try_from(value: bool) -> Result<Self, Self::Error> {
        if value { Ok(Self) } else { Err("write `true`, or leave the step out") }
    }
}

impl Scenario {
    /// Reads a scenario file and fills in its variables.
    ///
    /// # Errors
    /// [`ScenarioError`] if it cannot be read or is not a scenario.
    pub fn load(path: &Path, vars: &Vars) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|source| ScenarioError::Read { file: file.clone(), source })?;
        Self::parse(&file, &text, vars)
    }

    /// Reads a scenario from `text`; `file` is its name in errors. `vars` win over the
    /// scenario's own; a `${name}` that nobody defines stays as it is written.
    ///
    /// # Errors
    /// [`ScenarioError`] if it is not a scenario.
    pub fn parse(file: &str, text: &str, vars: &Vars) -> Result<Self, ScenarioError> {
        let mut value: Value = serde_json::from_str(text)
            .map_err(|source| ScenarioError::Syntax { file: file.to_owned(), source })?;
        let shape = |Problem { place, problem }| ScenarioError::Shape {
            file: file.to_owned(),
            place,
            problem,
        };
        let mut all = value.get("vars").map_or_else(|| Ok(Vars::new()), own_vars).map_err(shape)?;
        all.extend(vars.iter().map(|(name, value)| (name.clone(), value.clone())));
        if let Some(replies) = value.get_mut("replies") {
            fill(replies, &all);
        }
        scenario(value).map_err(shape)
    }
}

fn own_vars(value: &Value) -> Result<Vars, Problem> {
    typed(value.clone(), "vars")
}

fn scenario(value: Value) -> Result<Scenario, Problem> {
    let raw: RawScenario = typed(value, "the top")?;
    let RawScenario { name, model, replies, .. } = raw;
    let replies = replies.into_iter().enumerate().map(|(at, value)| reply(value, at));
    let replies = replies.collect::<Result<Vec<_>, _>>()?;
    Ok(Scenario { name, model, replies })
}

fn reply(value: Value, at: usize) -> Result<Reply, Problem> {
    let place = format!("replies[{at}]");
    let raw: RawReply = typed(value, &place)?;
    let steps = raw.steps.into_iter().enumerate().map(|(step_at, value)| {
        let place = format!("{place}.steps[{step_at}]");
        step(typed(value, &place)?).map_err(|problem| Problem { place, problem })
    });
    Ok(Reply { when: raw.when, repeat: raw.repeat, steps: steps.collect::<Result<_, _>>()? })
}

fn typed<T: DeserializeOwned>(value: Value, place: &str) -> Result<T, Problem> {
    serde_json::from_value(value).map_err(|error| Problem {
        place: place.to_owned(),
        problem: format!("{error}; the provider's README lists what may stand here"),
    })
}

fn step(raw: RawStep) -> Result<Step, String> {
    const KINDS: &str =
        "text, repeatText, thinking, toolUse, usage, stopReason, error, stall, cut or delayMs";
    let delay = Duration::from_millis(raw.delay_ms.unwrap_or(0));
    let pace = Pace { chunk: raw.chunk, delay };
    let signature = raw.signature;
    let signed = signature.is_some();
    let paced = raw.chunk.is_some();
    let mut found: Vec<(Step, bool)> = Vec::new();
    found.extend(raw.text.map(|text| (Step::Text { text, pace }, true)));
    if let Some(RawRepeat { text, count }) = raw.repeat_text {
        if text.is_empty() || text.len().saturating_mul(count) > MAX_REPEATED {
            return Err("`repeatText` makes 1 byte to 64 MiB; choose another `count`".to_owned());
        }
        found.push((Step::RepeatText { text, count, delay }, false));
    }
    found.extend(raw.thinking.map(|thinking| {
        let signature = signature.unwrap_or_default();
        (Step::Thinking { thinking, signature, pace }, true)
    }));
    if let Some(call) = raw.tool_use {
        found.push((tool_use(call, pace)?, true));
    }
    found.extend(raw.usage.map(|usage| (Step::Usage(usage), false)));
    found.extend(raw.stop_reason.map(|name| (Step::StopReason(StopReason::named(&name)), false)));
    found.extend(raw.error.map(|RawError { status, body, retry_after }| {
        (Step::Error(Refusal { status, body, retry_after }), false)
    }));
    found.extend(raw.stall.map(|True| (Step::Stall, false)));
    found.extend(raw.cut.map(|cut| {
        let bytes = match cut {
            RawCut::Here(True) => None,
            RawCut::After { bytes } => Some(bytes),
        };
        (Step::Cut { bytes }, false)
    }));
    if found.is_empty() && raw.delay_ms.is_some() {
        found.push((Step::Delay(delay), false));
    }
    let (Some((step, takes_pace)), true) = (found.pop(), found.is_empty()) else {
        return Err(format!("a step is exactly one of {KINDS}; split it or complete it"));
    };
    if signed && !matches!(step, Step::Thinking { .. }) {
        return Err("`signature` belongs to `thinking`; remove it here".to_owned());
    }
    if paced && !takes_pace {
        return Err("`chunk` belongs to text, thinking or toolUse; remove it here".to_owned());
    }
    Ok(step)
}

fn tool_use(call: RawToolUse, pace: Pace) -> Result<Step, String> {
    let RawToolUse { name, input, input_text, id } = call;
    let input = match (input, input_text) {
        (Some(_), Some(_)) => return Err("give `input` or `inputText`, not both".to_owned()),
        (None, Some(text)) => text,
        (Some(value @ Value::Object(_)), None) => value.to_string(),
        (None, None) => "{}".to_owned(),
        (Some(_), None) => {
            return Err("`input` is an object; broken arguments go in `inputText`".to_owned());
        }
    };
    Ok(Step::ToolUse { id, name, input, pace })
}

/// Replaces `${name}` in every string below `value`.
fn fill(value: &mut Value, vars: &Vars) {
    match value {
        Value::String(text) => *text = fill_text(text, vars),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, vars)),
        Value::Object(fields) => fields.values_mut().for_each(|field| fill(field, vars)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn fill_text(text: &str, vars: &Vars) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let known = from.find('}').and_then(|end| Some((vars.get(&from[2..end])?, end)));
        if let Some((value, end)) = known {
            out.push_str(value);
            rest = &from[end + 1..];
        } else {
            out.push_str("${");
            rest = &from[2..];
        }
    }
    out.push_str(rest);
    out
}
