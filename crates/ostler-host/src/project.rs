//! From what a session emits to the events of our own protocol (design.md 8 (a)).
//!
//! A projection translates and decides nothing. It keeps just what an event needs from
//! earlier ones.

use std::collections::{HashMap, HashSet};

use ostler_core::{
    AnswerSource, DeniedBy, HookRun, RunReason, SessionEvent,
    event::{Delta, ToolDone},
};
use ostler_protocol::{
    EventKind, MessageId, Mode, RequestId, RunId, ToolCallId,
    event::{DeltaPlace, DoneReason, NoticeLevel, PermissionAnswer, PermissionAsked, Truncated},
    session::PermissionDecision,
};
use serde_json::{Map, Value, json};

use crate::{prompts, question, transcript};

/// Most bytes of one tool result in an event.
const RESULT_CAP: usize = 256 * 1024;

/// Projects the events of one session.
#[derive(Debug)]
pub(crate) struct Projector {
    project_path: String,
    mode: Mode,
    run_id: Option<RunId>,
    started: HashSet<ToolCallId>,
    /// Open questions and plans: what each asks.
    questions: HashMap<RequestId, Vec<String>>,
    /// Characters of a call's arguments at which the next `tool_input` is due.
    input_due: u32,
}

impl Projector {
    pub(crate) fn new(project_path: String, mode: Mode) -> Self {
        Self {
            project_path,
            mode,
            run_id: None,
            started: HashSet::new(),
            questions: HashMap::new(),
            input_due: 0,
        }
    }

    /// The run that the next events belong to.
    pub(crate) fn run_id(&self) -> Option<&RunId> {
        self.run_id.as_ref()
    }

    /// The wire events of one session event, in order.
    pub(crate) fn project(&mut self, event: &SessionEvent) -> Vec<EventKind> {
        match event {
            SessionEvent::RunStarted { run_id, queued_ids } => {
                self.run_id = Some(run_id.clone());
                self.started.clear();
                let started =
                    queued_ids.iter().map(|id| EventKind::MessageStarted { id: id.clone() });
                let created = EventKind::SessionCreated { project_path: self.project_path.clone() };
                started.chain([created]).collect()
            }
            SessionEvent::UserMessage { message_id, content, client_id, queued_id, .. } => {
                vec![EventKind::UserMessage {
                    message_id: message_id.clone(),
                    client_id: client_id.clone(),
                    queued_id: queued_id.clone(),
                    blocks: transcript::user_blocks(content),
                }]
            }
            SessionEvent::BlockStarted { .. } => {
                self.input_due = 0;
                Vec::new()
            }
            SessionEvent::TextDelta(delta) => {
                vec![EventKind::TextDelta { delta: delta.text.clone(), place: place(delta) }]
            }
            SessionEvent::ThinkingDelta(delta) => {
                vec![EventKind::ThinkingDelta { delta: delta.text.clone(), place: place(delta) }]
            }
            SessionEvent::InputDelta { tool_call_id, tool_name, chars, .. } => {
                self.tool_input(tool_call_id, tool_name, *chars)
            }
            SessionEvent::BlockDone { interrupted: true, message_id, block, .. } => {
                interrupted_snapshot(message_id, block)
            }
            SessionEvent::ModelStarted { .. }
            | SessionEvent::HookStarted(_)
            | SessionEvent::BlockDone { .. }
            | SessionEvent::Denied { .. } => Vec::new(),
            SessionEvent::ModelDone {
                message_id, text, thinking, total, usage, window, ..
            } => {
                let mut out = snapshots(message_id, text, thinking);
                out.push(EventKind::UsageTotals {
                    total_input_tokens: total.total_input(),
                    total_output_tokens: total.output_tokens,
                    total_cache_read_tokens: total.cache_read_input_tokens.unwrap_or(0),
                    total_cache_write_tokens: total.cache_creation_input_tokens,
                    context_tokens: Some(usage.total_input() + usage.output_tokens),
                    window: *window,
                });
                out
            }
            SessionEvent::Retrying { message_id, attempt, max, delay_ms, failure } => {
                let mut out = vec![EventKind::Notice {
                    level: NoticeLevel::Warn,
                    content: format!("{}; trying again ({attempt} of {max})", failure.message),
                    key: Some("notice.retry".to_owned()),
                    args: object(json!({"attempt": attempt, "max": max, "delayMs": delay_ms})),
                }];
                out.extend(
                    message_id.clone().map(|message_id| EventKind::StreamReset { message_id }),
                );
                out
            }
            SessionEvent::HookRan(run) => hook_ran(run),
            SessionEvent::Asked(asked) => vec![self.asked(asked)],
            SessionEvent::Answered { request_id, allowed, input, reason, .. }
                if self.questions.contains_key(request_id) =>
            {
                vec![self.question_answered(request_id, *allowed, input.as_ref(), reason.as_ref())]
            }
            SessionEvent::Withdrawn { request_id, reason }
                if self.questions.contains_key(request_id) =>
            {
                vec![self.question_answered(request_id, false, None, Some(reason))]
            }
            SessionEvent::Answered { request_id, allowed: false, decision, reason, .. }
                if decision == AnswerSource::Dismissed.name() =>
            {
                vec![EventKind::PermissionRejected {
                    request_id: request_id.clone(),
                    reason: reason.clone(),
                }]
            }
            SessionEvent::Answered { request_id, decision, edited_rule, reason, .. } => {
                vec![EventKind::PermissionAnswered {
                    request_id: request_id.clone(),
                    answer: PermissionAnswer {
                        decision: decision_of(decision),
                        edited_rule: edited_rule.clone(),
                        reason: reason.clone(),
                    },
                }]
            }
            SessionEvent::Withdrawn { request_id, reason } => {
                let reason = Some(reason.clone());
                vec![EventKind::PermissionRejected { request_id: request_id.clone(), reason }]
            }
            SessionEvent::ToolStarted { tool_call_id, message_id, tool_name, args, title } => {
                self.started.insert(tool_call_id.clone());
                vec![tool_start(tool_call_id, message_id, tool_name, args, title)]
            }
            SessionEvent::ToolProgress { tool_call_id, elapsed_ms, bytes, tail } => {
                vec![EventKind::ToolProgress {
                    tool_call_id: tool_call_id.clone(),
                    elapsed_ms: *elapsed_ms,
                    bytes: *bytes,
                    tail: tail.clone(),
                }]
            }
            SessionEvent::ToolDone(done) => self.tool_done(done),
            SessionEvent::Queued { id, content } => {
                vec![EventKind::MessageQueued { id: id.clone(), content: content.clone() }]
            }
            SessionEvent::Dequeued { id } => vec![EventKind::MessageDequeued { id: id.clone() }],
            SessionEvent::ModeChanged(mode) => {
                self.mode = *mode;
                vec![options(*mode, None)]
            }
            SessionEvent::ModelChanged { provider, model } => {
                vec![options(self.mode, Some((provider.clone(), model.clone())))]
            }
            SessionEvent::Titled(_)
            | SessionEvent::PlanChanged(_)
            | SessionEvent::FolderChanged(_) => Vec::new(),
            SessionEvent::TodosChanged(todos) => {
                vec![EventKind::TodosUpdated { todos: todos.clone() }]
            }
            SessionEvent::TaskChanged { task, .. } => {
                vec![EventKind::TaskUpdated { task: Box::new(task.clone()) }]
            }
            SessionEvent::Notice { warn, text, key } => vec![EventKind::Notice {
                level: if *warn { NoticeLevel::Warn } else { NoticeLevel::Info },
                content: text.clone(),
                key: Some((*key).to_owned()),
                args: Map::new(),
            }],
            SessionEvent::RunFailed { failure, .. } => vec![EventKind::SessionError {
                error: failure.message.clone(),
                kind: failure.kind,
                hint: failure.hint.clone(),
            }],
            SessionEvent::RunEnded(end) => self.run_ended(end),
        }
    }

    fn asked(&mut self, asked: &ostler_core::AskedEvent) -> EventKind {
        match question::asked(asked) {
            Some(question) => {
                let questions = question.questions.iter().map(|spec| spec.question.clone());
                self.questions.insert(asked.request_id.clone(), questions.collect());
                EventKind::QuestionAsked(Box::new(question))
            }
            None => {
                EventKind::PermissionAsked(Box::new(permission_asked(asked, &self.project_path)))
            }
        }
    }

    fn question_answered(
        &mut self,
        request_id: &RequestId,
        allowed: bool,
        input: Option<&Map<String, Value>>,
        reason: Option<&String>,
    ) -> EventKind {
        let request_id = request_id.clone();
        let questions = self.questions.remove(&request_id).unwrap_or_default();
        if !allowed {
            return EventKind::QuestionRejected { request_id, reason: reason.cloned() };
        }
        let answers = question::answers_of(input, &questions);
        EventKind::QuestionAnswered { request_id, answers }
    }

    /// Due at 64 characters and whenever they have doubled: few events, and progress shows.
    fn tool_input(&mut self, id: &ToolCallId, name: &str, chars: u32) -> Vec<EventKind> {
        if chars < self.input_due.max(64) {
            return Vec::new();
        }
        self.input_due = chars.saturating_mul(2);
        vec![EventKind::ToolInput { tool_call_id: id.clone(), tool_name: name.to_owned(), chars }]
    }

    fn tool_done(&mut self, done: &ToolDone) -> Vec<EventKind> {
        let mut out = Vec::new();
        let ran = self.started.remove(&done.tool_call_id);
        if !ran {
            out.push(tool_start(
                &done.tool_call_id,
                &done.message_id,
                &done.tool_name,
                &done.args,
                &done.title,
            ));
        }
        let text = done.content.text();
        if ran {
            let content = last_lines(&text);
            out.push(EventKind::ToolOutput { tool_call_id: done.tool_call_id.clone(), content });
        }
        let (result, truncated) = cut(&text);
        out.push(EventKind::ToolComplete {
            tool_call_id: done.tool_call_id.clone(),
            tool_name: done.tool_name.clone(),
            result,
            success: done.ok,
            duration_ms: done.ms,
            denied_by: done.denied_by.map(|by: DeniedBy| by.name().to_owned()),
            truncated,
        });
        if !done.diffs.is_empty() {
            out.push(EventKind::SessionDiff {
                tool_call_id: done.tool_call_id.clone(),
                added: done.diffs.iter().map(|diff| diff.added).sum(),
                removed: done.diffs.iter().map(|diff| diff.removed).sum(),
                diff: done.diffs.clone(),
            });
        }
        out
    }

    fn run_ended(&mut self, end: &ostler_core::RunEnd) -> Vec<EventKind> {
        let mut out = Vec::new();
        if end.reason != RunReason::Failed {
            out.push(EventKind::SessionUpdated {});
        }
        out.push(EventKind::Done {
            content: end_message(end),
            message_id: end.message_id.clone(),
            ms: end.ms,
            model: end.model.clone(),
            reason: match end.reason {
                RunReason::End | RunReason::HookStopped | RunReason::Blocked => DoneReason::End,
                RunReason::InterruptedStreaming | RunReason::InterruptedTools => {
                    DoneReason::Interrupted
                }
                RunReason::Failed => DoneReason::Failed,
                RunReason::Turns => DoneReason::Budget,
            },
            queued_id: end.queued_ids.first().cloned(),
        });
        out
    }
}

/// The message of a run's end, as `done` and `session.send` give it.
pub(crate) fn end_message(end: &ostler_core::RunEnd) -> String {
    match (end.reason, &end.failure) {
        (RunReason::End, _) => "Done".to_owned(),
        (RunReason::InterruptedStreaming | RunReason::InterruptedTools, _) => {
            "Interrupted".to_owned()
        }
        (RunReason::Turns, _) => "Max iterations reached".to_owned(),
        (RunReason::HookStopped, _) => "Stopped by a hook".to_owned(),
        (RunReason::Blocked, _) => format!("A hook kept the message back: {}", end.text),
        (RunReason::Failed, Some(failure)) => failure.message.clone(),
        (RunReason::Failed, None) => "Failed".to_owned(),
    }
}

/// That a hook ran and, if it stood in the way, that it did.
fn hook_ran(run: &HookRun) -> Vec<EventKind> {
    let triggered = EventKind::HookTriggered {
        hook_name: run.name.clone(),
        event: run.event.clone(),
        outcome: run.outcome.clone(),
        ms: run.ms,
        reason: run.problem.clone(),
        tool_call_id: run.tool_call_id.clone(),
    };
    let blocked = run.blocked.clone().map(|reason| EventKind::HookBlocked {
        hook_name: run.name.clone(),
        event: run.event.clone(),
        reason,
        tool_call_id: run.tool_call_id.clone(),
    });
    [Some(triggered), blocked].into_iter().flatten().collect()
}

fn place(delta: &Delta) -> DeltaPlace {
    DeltaPlace { message_id: delta.message_id.clone(), block: delta.block, n: delta.n }
}

fn snapshots(message_id: &MessageId, text: &str, thinking: &str) -> Vec<EventKind> {
    let mut out = Vec::new();
    if !thinking.is_empty() {
        out.push(EventKind::Thinking {
            content: thinking.to_owned(),
            message_id: message_id.clone(),
        });
    }
    if !text.is_empty() {
        out.push(EventKind::Text { content: text.to_owned(), message_id: message_id.clone() });
    }
    out
}

/// What was cut off has no provider response that ends; its snapshot is the block.
fn interrupted_snapshot(message_id: &MessageId, block: &ostler_protocol::Block) -> Vec<EventKind> {
    match block {
        ostler_protocol::Block::Text { text } => snapshots(message_id, text, ""),
        ostler_protocol::Block::Thinking { thinking, .. } => snapshots(message_id, "", thinking),
        _ => Vec::new(),
    }
}

fn tool_start(
    id: &ToolCallId,
    message_id: &MessageId,
    name: &str,
    args: &Map<String, Value>,
    title: &str,
) -> EventKind {
    EventKind::ToolStart {
        tool_call_id: id.clone(),
        tool_name: name.to_owned(),
        args: args.clone(),
        title: title.to_owned(),
        message_id: message_id.clone(),
    }
}

fn options(mode: Mode, model: Option<(String, String)>) -> EventKind {
    let (provider, model) =
        model.map_or((None, None), |(provider, model)| (Some(provider), Some(model)));
    EventKind::OptionsChanged {
        agent_mode: mode.ipc_name().to_owned(),
        permission_mode: mode,
        provider,
        model,
    }
}

fn decision_of(name: &str) -> PermissionDecision {
    serde_json::from_value(Value::String(name.to_owned())).unwrap_or(PermissionDecision::Deny)
}

/// The last 5 lines that are not blank, each at most 200 characters.
fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let tail = &lines[lines.len().saturating_sub(5)..];
    tail.iter()
        .map(|line| line.chars().take(200).collect::<String>())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Keeps a text within the wire's cap.
pub(crate) fn cut(text: &str) -> (String, Option<Truncated>) {
    let bounded = ostler_stdx::bound_middle(text, RESULT_CAP / 2, RESULT_CAP / 4, "");
    let total = u64::try_from(text.len()).unwrap_or(u64::MAX);
    (bounded.text, (bounded.omitted > 0).then_some(Truncated { total }))
}

/// An open request as the wire shows it.
pub(crate) fn permission_asked(asked: &ostler_core::AskedEvent, cwd: &str) -> PermissionAsked {
    let question = &asked.question;
    PermissionAsked {
        request_id: asked.request_id.clone(),
        tool_call_id: asked.tool_call_id.clone(),
        tool_name: asked.tool_name.clone(),
        args: asked.args.clone(),
        description: question.title.clone(),
        suggested_rule: question.suggested_rule.clone(),
        suggestions: prompts::offers(question.suggested_rule.as_deref()),
        reason: question.reason.clone(),
        cwd: cwd.to_owned(),
        mode: asked.mode,
        targets: question.targets.clone(),
        spans: question.spans.clone(),
        diff: (!question.diffs.is_empty()).then(|| question.diffs.clone()),
        hash: shown_hash(asked),
        asked_at: question.asked_at,
        expires_at: question.expires_at,
    }
}

/// Names what a person was shown: tool and arguments, byte for byte.
pub(crate) fn shown_hash(asked: &ostler_core::AskedEvent) -> String {
    use sha2::{Digest as _, Sha256};
    let mut hasher = Sha256::new();
    hasher.update(asked.tool_name.as_bytes());
    hasher.update([0]);
    hasher.update(Value::Object(asked.args.clone()).to_string().as_bytes());
    hasher.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
