//! What a hook answered: the output object of agent-sdk.md 5.6 and the shorter one of
//! ipc.md 5.4, exit codes and plain words. Decoding only; what several answers mean
//! together is `combine`'s business. A value of the wrong kind fails the whole answer: half
//! an answer would do something else than its author wrote.

use std::time::Duration;

use ostler_stdx::bound_middle;
use serde_json::{Map, Value};

use crate::Event;

/// Most bytes of one context text; hooks that say more are cut in the middle.
pub(crate) const CONTEXT_CAP: usize = 40_000;

/// Most bytes of a reason or message.
const TEXT_CAP: usize = 10_000;

/// What a hook decides about a call; the order is that of strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// It runs, unless a rule says otherwise.
    Allow,
    /// The person decides.
    Ask,
    /// Somebody decides later.
    Defer,
    /// It does not run.
    Deny,
}

/// How a hook changes the input of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum NewInput {
    /// This is the input (`updatedInput`).
    Whole(Map<String, Value>),
    /// These fields are new (`modifiedInput`).
    Fields(Map<String, Value>),
}

impl NewInput {
    /// The input of the call as the hook wants it.
    #[must_use]
    pub fn apply(self, old: &Map<String, Value>) -> Map<String, Value> {
        match self {
            Self::Whole(new) => new,
            Self::Fields(fields) => {
                let mut new = old.clone();
                new.extend(fields);
                new
            }
        }
    }
}

/// What a `PermissionRequest` hook answers in the person's place.
#[derive(Debug, Clone, PartialEq)]
pub enum PermissionAnswer {
    /// The call may run.
    Allow {
        /// With this input.
        updated_input: Option<Map<String, Value>>,
        /// Permission updates to apply first (agent-sdk.md 5.2).
        updates: Vec<Value>,
    },
    /// It may not.
    Deny {
        /// What the model is told.
        message: Option<String>,
        /// Whether the turn ends as well.
        interrupt: bool,
    },
}

/// What one hook answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// About the call (`PreToolUse`).
    pub decision: Option<Decision>,
    /// Why, for [`Answer::decision`] and [`Answer::block`].
    pub reason: Option<String>,
    /// `decision: "block"` or exit code 2, for events other than `PreToolUse`.
    pub block: bool,
    /// Another input for the call.
    pub input: Option<NewInput>,
    /// Texts for the model.
    pub context: Vec<String>,
    /// `continue: false`, with its reason: the turn ends.
    pub stop: Option<String>,
    /// Shown to the person.
    pub message: Option<String>,
    /// Whether standard output is kept out of what people see.
    pub suppress_output: bool,
    /// Another output of the tool: an object of its shape, or a text.
    pub output: Option<Value>,
    /// An answer in the person's place (`PermissionRequest`).
    pub permission: Option<PermissionAnswer>,
    /// Whether the model may try a refused call again.
    pub retry: bool,
    /// A title for the session.
    pub title: Option<String>,
    /// Whether the person's own words are left out (`suppressOriginalPrompt`).
    pub suppress_prompt: bool,
    /// `async: true`: nothing waits for it, with its own limit.
    pub goes_on: Option<Option<Duration>>,
}

/// Decodes an output object.
///
/// # Errors
/// The field that makes no sense.
pub(crate) fn decode(event: Event, object: &Map<String, Value>) -> Result<Answer, String> {
    let top = Fields(object);
    let mut answer = Answer {
        message: top.text("systemMessage")?,
        suppress_output: top.flag("suppressOutput")?.unwrap_or(false),
        reason: top.text("reason")?,
        ..Answer::default()
    };
    if top.flag("async")? == Some(true) {
        answer.goes_on = Some(top.number("asyncTimeout")?.map(Duration::from_millis));
    }
    if top.flag("continue")? == Some(false) {
        answer.stop = Some(top.text("stopReason")?.unwrap_or_default());
    }
    let decision = top.text("decision")?;
    let blocks = match decision.as_deref() {
        None => top.flag("block")?.unwrap_or(false),
        Some("block" | "deny") => true,
        Some("approve" | "allow") => {
            answer.decision = Some(Decision::Allow);
            false
        }
        Some(other) => return Err(format!("`decision` is `{other}`; it is `block` or left out")),
    };
    if blocks {
        answer.blocks(event);
    }
    answer.context.extend(top.context("context")?);
    answer.input = top.object("modifiedInput")?.cloned().map(NewInput::Fields);
    answer.output = top.present("modifiedOutput").cloned();
    if let Some(specific) = top.object("hookSpecificOutput")? {
        decode_specific(event, &Fields(specific), &mut answer)?;
    }
    if event != Event::PreToolUse {
        answer.decision = None;
    }
    Ok(answer)
}

fn decode_specific(event: Event, specific: &Fields<'_>, answer: &mut Answer) -> Result<(), String> {
    match specific.text("hookEventName")? {
        Some(name) if name == event.name() => {}
        Some(name) => {
            return Err(format!(
                "`hookSpecificOutput.hookEventName` is `{name}`, but the event is `{}`",
                event.name()
            ));
        }
        None => return Err("`hookSpecificOutput` has no `hookEventName`".to_owned()),
    }
    answer.context.extend(specific.context("additionalContext")?);
    answer.title = specific.text("sessionTitle")?;
    match event {
        Event::PreToolUse => {
            answer.decision = match specific.text("permissionDecision")?.as_deref() {
                None => answer.decision,
                Some("allow") => Some(Decision::Allow),
                Some("deny") => Some(Decision::Deny),
                Some("ask") => Some(Decision::Ask),
                Some("defer") => Some(Decision::Defer),
                Some(other) => {
                    return Err(format!(
                        "`permissionDecision` is `{other}`; use `allow`, `deny`, `ask` or `defer`"
                    ));
                }
            };
            if let Some(reason) = specific.text("permissionDecisionReason")? {
                answer.reason = Some(reason);
            }
            if let Some(input) = specific.object("updatedInput")? {
                answer.input = Some(NewInput::Whole(input.clone()));
            }
        }
        Event::PostToolUse => {
            let output = specific.present("updatedToolOutput");
            let output = output.or_else(|| specific.present("updatedMCPToolOutput"));
            answer.output = output.cloned().or_else(|| answer.output.take());
        }
        Event::PermissionRequest => {
            let decision = specific.object("decision")?;
            answer.permission =
                decision.map(|decision| permission(&Fields(decision))).transpose()?;
        }
        Event::PermissionDenied => answer.retry = specific.flag("retry")?.unwrap_or(false),
        Event::UserPromptSubmit => {
            answer.suppress_prompt = specific.flag("suppressOriginalPrompt")?.unwrap_or(false);
        }
        _ => {}
    }
    Ok(())
}

fn permission(decision: &Fields<'_>) -> Result<PermissionAnswer, String> {
    match decision.text("behavior")?.as_deref() {
        Some("allow") => Ok(PermissionAnswer::Allow {
            updated_input: decision.object("updatedInput")?.cloned(),
            updates: match decision.present("updatedPermissions") {
                None => Vec::new(),
                Some(Value::Array(updates)) => updates.clone(),
                Some(_) => return Err("`updatedPermissions` must be a list".to_owned()),
            },
        }),
        Some("deny") => Ok(PermissionAnswer::Deny {
            message: decision.text("message")?,
            interrupt: decision.flag("interrupt")?.unwrap_or(false),
        }),
        _ => Err("`decision.behavior` must be `allow` or `deny`".to_owned()),
    }
}

impl Answer {
    /// The hook says no.
    pub(crate) fn blocks(&mut self, event: Event) {
        match event {
            Event::PreToolUse => self.decision = Some(Decision::Deny),
            Event::PermissionRequest => {
                let message = self.reason.clone();
                self.permission = Some(PermissionAnswer::Deny { message, interrupt: false });
            }
            _ => self.block = true,
        }
    }

    /// An answer that says no, with words why.
    #[must_use]
    pub fn refusal(event: Event, reason: &str) -> Self {
        let mut answer = Self { reason: Some(cut(reason, TEXT_CAP)), ..Self::default() };
        answer.blocks(event);
        answer
    }

    /// Whether it stands in the way of what the event is about.
    #[must_use]
    pub fn is_block(&self) -> bool {
        self.block
            || self.decision == Some(Decision::Deny)
            || matches!(self.permission, Some(PermissionAnswer::Deny { .. }))
    }
}

/// What a command's exit code, output and errors mean.
///
/// # Errors
/// Why the hook itself failed.
pub(crate) fn of_exit(
    event: Event,
    code: i32,
    stdout: &str,
    stderr: &str,
) -> Result<Answer, String> {
    match code {
        0 => of_text(event, stdout),
        2 => {
            let said = [stderr, stdout].into_iter().map(str::trim).find(|text| !text.is_empty());
            if event.can_block() {
                Ok(Answer::refusal(event, said.unwrap_or("the hook gave no reason")))
            } else {
                Err(cut(said.unwrap_or("exit code 2"), TEXT_CAP))
            }
        }
        code => {
            let said = cut(stderr.trim(), TEXT_CAP);
            Err(if said.is_empty() {
                format!("exit code {code}")
            } else {
                format!("exit code {code}: {said}")
            })
        }
    }
}

/// What a text means that a hook gave without any trouble: an output object, or plain words.
///
/// # Errors
/// The field that makes no sense.
pub(crate) fn of_text(event: Event, text: &str) -> Result<Answer, String> {
    let text = text.trim().trim_start_matches('\u{feff}');
    if text.starts_with('{')
        && let Some(object) = first_object(text)
    {
        return decode(event, &object);
    }
    let mut answer = Answer::default();
    if event.plain_text_is_context() && !text.is_empty() {
        answer.context.push(cut(text, CONTEXT_CAP));
    }
    Ok(answer)
}

/// The object that is the whole text, or its first line: a hook that goes on in the
/// background says so there and may say more later.
fn first_object(text: &str) -> Option<Map<String, Value>> {
    let whole = serde_json::from_str(text);
    whole
        .or_else(|error| match text.lines().next() {
            Some(line) => serde_json::from_str(line),
            None => Err(error),
        })
        .ok()
}

/// What a model answered that was asked for a yes or no; what is no answer is a yes.
#[must_use]
pub(crate) fn of_model(event: Event, text: &str) -> Answer {
    let object = text
        .find('{')
        .and_then(|from| text.rfind('}').map(|to| (from, to)))
        .and_then(|(from, to)| text.get(from..=to))
        .and_then(|json| serde_json::from_str::<Map<String, Value>>(json).ok())
        .unwrap_or_default();
    let says_no = object.get("ok") == Some(&Value::Bool(false))
        || object.get("decision").and_then(Value::as_str) == Some("block");
    if !says_no {
        return Answer::default();
    }
    let reason = object.get("reason").and_then(Value::as_str);
    Answer::refusal(event, reason.unwrap_or("the model gave no reason"))
}

fn cut(text: &str, cap: usize) -> String {
    bound_middle(text, cap - cap / 4, cap / 4, "").text
}

/// Reads fields with the kind that they must have; `null` counts as absent.
struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    fn present(&self, key: &str) -> Option<&'a Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    fn text(&self, key: &str) -> Result<Option<String>, String> {
        match self.present(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(cut(text, TEXT_CAP))),
            Some(_) => Err(format!("`{key}` must be a string")),
        }
    }

    fn context(&self, key: &str) -> Result<Option<String>, String> {
        match self.present(key) {
            None => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(Value::String(text)) => Ok(Some(cut(text, CONTEXT_CAP))),
            Some(_) => Err(format!("`{key}` must be a string")),
        }
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, String> {
        match self.present(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(format!("`{key}` must be true or false")),
        }
    }

    fn number(&self, key: &str) -> Result<Option<u64>, String> {
        match self.present(key) {
            None => Ok(None),
            Some(value) => {
                value.as_u64().map(Some).ok_or_else(|| format!("`{key}` must be a whole number"))
            }
        }
    }

    fn object(&self, key: &str) -> Result<Option<&'a Map<String, Value>>, String> {
        match self.present(key) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(_) => Err(format!("`{key}` must be an object")),
        }
    }
}

#[cfg(test)]
mod tests;
