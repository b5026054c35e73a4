//! The machine while the calls of one answer are judged, asked about and run.
//!
//! Consecutive readers go together, any other call alone; results are settled in call
//! order, whatever order they come in.

use std::collections::BTreeSet;

use ostler_protocol::{Mode, RequestId, ToolCallId, conversation::ToolResultContent};
use ostler_store::record::{Own, Record, UserEntry, Why};
use serde_json::Value;

use super::{
    Answer, AnswerSource, Aside, DeniedBy, Effect, Moment, Question, Ruled, Ruling, SettledCall,
    State, ToolCall, ToolOutcome, Turn, pause::Pause, result_content,
};
use crate::{
    event::{AskedEvent, Denial, RunReason, SessionEvent, ToolDone},
    mend,
};

/// What the model is told of a call that did not run because a hook ended the turn.
const STOPPED_BY_HOST: &str = "The call was not run: a hook ended the turn.";

/// The calls of one answer.
#[derive(Debug)]
pub(super) struct Batch {
    calls: Vec<Call>,
    /// Calls before this one are in the log.
    settled: usize,
    /// Something asked to stop the run.
    stop: Option<Stop>,
    /// Texts of the host for the model, beside the results.
    context: Vec<String>,
}

/// How a batch ends a run.
#[derive(Debug)]
enum Stop {
    /// Like an interruption.
    Interrupted,
    /// The host said so, for this reason.
    Host(String),
}

#[derive(Debug)]
struct Call {
    call: ToolCall,
    reader: bool,
    title: String,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    Waiting,
    Judging,
    Asking { request_id: RequestId, question: Box<Question> },
    Running,
    Done { outcome: ToolOutcome, ms: Option<u64>, denied_by: Option<DeniedBy> },
}

impl Batch {
    pub(super) fn new(calls: Vec<ToolCall>, readers: &BTreeSet<String>) -> Self {
        let calls = calls
            .into_iter()
            .map(|call| Call {
                reader: readers.contains(&call.name.to_ascii_lowercase()),
                title: call.name.clone(),
                call,
                phase: Phase::Waiting,
            })
            .collect();
        Self { calls, settled: 0, stop: None, context: Vec::new() }
    }

    pub(super) fn any_running(&self) -> bool {
        self.calls.iter().any(|call| matches!(call.phase, Phase::Running))
    }

    pub(super) fn any_judging(&self) -> bool {
        self.calls.iter().any(|call| matches!(call.phase, Phase::Judging))
    }

    fn find(&mut self, id: &ToolCallId) -> Option<&mut Call> {
        // A vendor may repeat an id; the first call that is not done is meant.
        let at = self
            .calls
            .iter()
            .position(|call| call.call.id == *id && !matches!(call.phase, Phase::Done { .. }))?;
        self.calls.get_mut(at)
    }

    fn find_request(&mut self, id: &RequestId) -> Option<&mut Call> {
        self.calls.iter_mut().find(
            |call| matches!(&call.phase, Phase::Asking { request_id, .. } if request_id == id),
        )
    }

    pub(super) fn open_requests(&self, mode: Mode) -> Vec<AskedEvent> {
        self.calls.iter().filter_map(|call| call.asked(mode)).collect()
    }

    /// Requests that nobody needs to answer any more.
    pub(super) fn withdraw_requests(&mut self, reason: &str, out: &mut Vec<Effect>) {
        for call in &mut self.calls {
            let Phase::Asking { request_id, .. } = &call.phase else { continue };
            out.push(Effect::Append(vec![Record::Own(Own::Answered {
                request_id: request_id.0.clone(),
                decision: "withdrawn".to_owned(),
                reason: Some(reason.to_owned()),
            })]));
            out.push(Effect::Emit(SessionEvent::Withdrawn {
                request_id: request_id.clone(),
                reason: reason.to_owned(),
            }));
            call.phase = Phase::Waiting;
        }
    }

    /// What the host wants besides.
    fn take_aside(&mut self, aside: Aside) {
        self.context.extend(aside.context);
        if let (Some(reason), None) = (aside.stop, &self.stop) {
            self.stop = Some(Stop::Host(reason));
        }
    }

    fn settled_calls(&self) -> Vec<SettledCall> {
        let settled = self.calls.iter().filter_map(|call| match &call.phase {
            Phase::Done { outcome, .. } => Some(SettledCall {
                id: call.call.id.clone(),
                name: call.call.name.clone(),
                args: call.call.args.clone(),
                content: outcome.content.clone(),
            }),
            Phase::Waiting | Phase::Judging | Phase::Asking { .. } | Phase::Running => None,
        });
        settled.collect()
    }

    /// Starts to judge the next group if the one before is settled.
    fn next_group(&mut self, out: &mut Vec<Effect>) {
        if self.calls[..self.settled].len() < self.calls.len() && self.group_is_open() {
            return;
        }
        let first = self.settled;
        let mut end = first;
        while self.calls.get(end).is_some_and(|call| end == first || call.reader) {
            let alone = !self.calls[end].reader;
            end += 1;
            if alone {
                break;
            }
        }
        for call in &mut self.calls[first..end] {
            call.phase = Phase::Judging;
            out.push(Effect::Judge { call: call.call.clone(), approved: false });
        }
    }

    fn group_is_open(&self) -> bool {
        self.calls[self.settled..].iter().any(|call| !matches!(call.phase, Phase::Waiting))
    }
}

impl Call {
    fn asked(&self, mode: Mode) -> Option<AskedEvent> {
        let Phase::Asking { request_id, question } = &self.phase else { return None };
        Some(AskedEvent {
            request_id: request_id.clone(),
            tool_call_id: self.call.id.clone(),
            tool_name: self.call.name.clone(),
            args: self.call.args.clone(),
            mode,
            question: (**question).clone(),
        })
    }

    fn refuse(&mut self, message: String, by: DeniedBy) {
        let outcome = ToolOutcome::failed(message);
        self.phase = Phase::Done { outcome, ms: None, denied_by: Some(by) };
    }
}

/// The end of a call that was never run because of an interruption.
pub(super) fn interrupted_event(call: &ToolCall, uuid: String) -> SessionEvent {
    SessionEvent::ToolDone(Box::new(ToolDone {
        tool_call_id: call.id.clone(),
        message_id: call.message_id.clone(),
        tool_name: call.name.clone(),
        args: call.args.clone(),
        title: call.name.clone(),
        uuid,
        content: ToolResultContent::Text(mend::CALL_INTERRUPTED.to_owned()),
        structured: Value::String(format!("Error: {}", mend::CALL_INTERRUPTED)),
        ok: false,
        ms: None,
        denied_by: Some(DeniedBy::Interrupt),
        diffs: Vec::new(),
    }))
}

impl Turn {
    /// Goes on with the calls: settles what is done, starts what comes next.
    pub(super) fn work(&mut self, mut batch: Batch, out: &mut Vec<Effect>) {
        self.settle(&mut batch, out);
        if batch.settled < batch.calls.len() {
            if batch.stop.is_some() && !batch.any_running() {
                return self.stop_batch(batch, out);
            }
            if batch.stop.is_none() {
                batch.next_group(out);
            }
            self.state = State::Working(batch);
            return;
        }
        self.add_context(std::mem::take(&mut batch.context), out);
        match batch.stop {
            Some(stop) => self.end_stopped_batch(stop, out),
            None if self.moments.batch => {
                self.pause(Pause::Results, Moment::Batch { calls: batch.settled_calls() }, out);
            }
            None => self.send_results(out),
        }
    }

    /// Writes and shows results in call order, as far as they are done.
    fn settle(&mut self, batch: &mut Batch, out: &mut Vec<Effect>) {
        while let Some(call) = batch.calls.get(batch.settled) {
            let Phase::Done { outcome, ms, denied_by } = &call.phase else { return };
            let uuid = self.ids.uuid();
            if let Some(run) = &mut self.run {
                run.user_messages += 1;
                if matches!(denied_by, Some(by) if *by != DeniedBy::Invalid && *by != DeniedBy::Interrupt)
                {
                    run.denials.push(Denial {
                        tool_call_id: call.call.id.clone(),
                        tool_name: call.call.name.clone(),
                        args: call.call.args.clone(),
                    });
                }
            }
            let mut records = vec![
                Record::User(UserEntry {
                    uuid: uuid.clone(),
                    content: result_content(
                        call.call.id.as_str(),
                        outcome.content.clone(),
                        outcome.ok,
                    ),
                    tool_use_result: Some(outcome.structured.clone()),
                    is_meta: false,
                    origin: None,
                }),
                Record::Own(Own::Tool {
                    tool_use_id: call.call.id.0.clone(),
                    ms: *ms,
                    denied_by: denied_by.map(|by| by.name().to_owned()),
                    diffs: outcome.diffs.clone(),
                }),
            ];
            records.extend(outcome.records.iter().cloned().map(Record::Own));
            let changes = self.state_changes(&outcome.changes, &mut records);
            out.push(Effect::Append(records));
            out.push(Effect::Emit(SessionEvent::ToolDone(Box::new(ToolDone {
                tool_call_id: call.call.id.clone(),
                message_id: call.call.message_id.clone(),
                tool_name: call.call.name.clone(),
                args: call.call.args.clone(),
                title: call.title.clone(),
                uuid,
                content: outcome.content.clone(),
                structured: outcome.structured.clone(),
                ok: outcome.ok,
                ms: *ms,
                denied_by: *denied_by,
                diffs: outcome.diffs.clone(),
            }))));
            out.extend(changes.into_iter().map(Effect::Emit));
            batch.settled += 1;
        }
    }

    pub(super) fn on_judged(&mut self, call_id: &ToolCallId, ruled: Ruled, out: &mut Vec<Effect>) {
        let State::Working(batch) = &mut self.state else { return };
        let mode = self.mode;
        let is_judged = |call: &&mut Call| matches!(call.phase, Phase::Judging);
        if batch.find(call_id).filter(is_judged).is_none() {
            return;
        }
        batch.take_aside(ruled.aside);
        let stopped = batch.stop.is_some();
        let Some(call) = batch.find(call_id) else { return };
        if let Some(args) = ruled.args {
            call.call.args = args;
        }
        if stopped {
            // Whoever ends the run wants nothing more to happen in it.
            if !matches!(ruled.ruling, Ruling::Deny { .. }) {
                call.phase = Phase::Waiting;
                return self.go_on(out);
            }
        }
        match ruled.ruling {
            Ruling::Allow { title, why } => {
                call.title = title;
                call.phase = Phase::Running;
                out.push(Effect::Append(vec![verdict(&call.call, "allow", mode, why)]));
                out.push(Effect::Emit(SessionEvent::ToolStarted {
                    tool_call_id: call.call.id.clone(),
                    message_id: call.call.message_id.clone(),
                    tool_name: call.call.name.clone(),
                    args: call.call.args.clone(),
                    title: call.title.clone(),
                }));
                out.push(Effect::RunTool(call.call.clone()));
            }
            Ruling::Ask(question) => {
                call.title.clone_from(&question.title);
                let request_id = RequestId(self.ids.uuid());
                out.push(Effect::Append(vec![
                    verdict(&call.call, "ask", mode, question.why.clone()),
                    Record::Own(Own::Asked {
                        request_id: request_id.0.clone(),
                        tool_use_id: call.call.id.0.clone(),
                    }),
                ]));
                call.phase = Phase::Asking { request_id, question: Box::new(question) };
                out.extend(
                    call.asked(mode)
                        .map(|asked| Effect::Emit(SessionEvent::Asked(Box::new(asked)))),
                );
            }
            Ruling::Deny { message, by, reason_kind, title, why } => {
                call.title = title;
                call.refuse(message.clone(), by);
                out.push(Effect::Append(vec![verdict(&call.call, "deny", mode, why)]));
                out.push(Effect::Emit(SessionEvent::Denied {
                    tool_call_id: call.call.id.clone(),
                    tool_name: call.call.name.clone(),
                    by,
                    reason_kind,
                    message,
                }));
                self.go_on(out);
            }
        }
    }

    pub(super) fn on_answered(
        &mut self,
        request_id: &RequestId,
        answer: Answer,
        out: &mut Vec<Effect>,
    ) {
        let State::Working(batch) = &mut self.state else { return };
        let mode = self.mode;
        let Some(call) = batch.find_request(request_id) else { return };
        let (allowed, decision, edited_rule, reason) = match &answer {
            Answer::Allow { decision, edited_rule, .. } => {
                (true, decision.clone(), edited_rule.clone(), None)
            }
            Answer::Deny { reason, source, .. } => {
                (false, source.name().to_owned(), None, reason.clone())
            }
        };
        let mut records = vec![Record::Own(Own::Answered {
            request_id: request_id.0.clone(),
            decision: decision.clone(),
            reason: reason.clone(),
        })];
        if let Answer::Deny { source, .. } = &answer {
            records.push(verdict(
                &call.call,
                "deny",
                mode,
                refused_why(*source, reason.as_deref()),
            ));
        }
        out.push(Effect::Append(records));
        let request_id = request_id.clone();
        out.push(Effect::Emit(match &answer {
            Answer::Deny { source: AnswerSource::Timeout | AnswerSource::Gone, .. } => {
                SessionEvent::Withdrawn { request_id, reason: decision }
            }
            _ => {
                let input = match &answer {
                    Answer::Allow { updated_input, .. } => updated_input.clone(),
                    Answer::Deny { .. } => None,
                };
                SessionEvent::Answered { request_id, allowed, decision, edited_rule, reason, input }
            }
        }));
        match answer {
            Answer::Allow { updated_input, .. } => {
                if let Some(args) = updated_input {
                    call.call.args = args;
                }
                call.phase = Phase::Judging;
                out.push(Effect::Judge { call: call.call.clone(), approved: true });
            }
            Answer::Deny { message, reason, interrupt, source } => {
                call.refuse(
                    message.unwrap_or_else(|| denial_text(source, reason.as_deref())),
                    denied_by(source),
                );
                if interrupt {
                    batch.stop = Some(Stop::Interrupted);
                    batch.withdraw_requests("interrupted", out);
                    if batch.any_running() {
                        out.push(Effect::CancelTools);
                    }
                }
                self.go_on(out);
            }
        }
    }

    pub(super) fn on_tool_done(
        &mut self,
        call_id: &ToolCallId,
        mut outcome: ToolOutcome,
        ms: u64,
        out: &mut Vec<Effect>,
    ) {
        let stopping = matches!(self.state, State::Stopping(_));
        let (State::Working(batch) | State::Stopping(batch)) = &mut self.state else { return };
        let stopping = stopping || matches!(batch.stop, Some(Stop::Interrupted));
        if batch.find(call_id).is_some_and(|call| matches!(call.phase, Phase::Running)) {
            batch.take_aside(std::mem::take(&mut *outcome.aside));
        }
        let Some(call) = batch.find(call_id).filter(|call| matches!(call.phase, Phase::Running))
        else {
            return;
        };
        if stopping && outcome.interrupted {
            // The same words as after a crash, so that both give the same next request.
            call.refuse(mend::CALL_INTERRUPTED.to_owned(), DeniedBy::Interrupt);
        } else {
            call.phase = Phase::Done { outcome, ms: Some(ms), denied_by: None };
        }
        self.go_on(out);
    }

    fn go_on(&mut self, out: &mut Vec<Effect>) {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Working(batch) => self.work(batch, out),
            State::Stopping(batch) if batch.any_running() => self.state = State::Stopping(batch),
            State::Stopping(batch) => self.stop_batch(batch, out),
            state @ (State::Idle | State::Sampling(_) | State::Pausing(_)) => self.state = state,
        }
    }

    /// Nothing runs any more: every call that is not done gets the interrupted result.
    pub(super) fn stop_batch(&mut self, mut batch: Batch, out: &mut Vec<Effect>) {
        for call in &mut batch.calls[batch.settled..] {
            if !matches!(call.phase, Phase::Done { .. }) {
                let (text, by) = match &batch.stop {
                    Some(Stop::Host(_)) => (STOPPED_BY_HOST, DeniedBy::Hook),
                    Some(Stop::Interrupted) | None => (mend::CALL_INTERRUPTED, DeniedBy::Interrupt),
                };
                call.refuse(text.to_owned(), by);
            }
        }
        self.settle(&mut batch, out);
        self.add_context(std::mem::take(&mut batch.context), out);
        self.end_stopped_batch(batch.stop.unwrap_or(Stop::Interrupted), out);
    }

    fn end_stopped_batch(&mut self, stop: Stop, out: &mut Vec<Effect>) {
        match stop {
            Stop::Interrupted => self.end_interrupted(out),
            Stop::Host(reason) => self.end_for(reason, Vec::new(), out),
        }
    }

    fn end_interrupted(&mut self, out: &mut Vec<Effect>) {
        let (note, event) = self.interruption_note(true);
        out.push(Effect::Append(vec![note]));
        out.push(event);
        self.end_run(RunReason::InterruptedTools, None, Vec::new(), out);
    }
}

/// The record of what was said of a call.
fn verdict(call: &ToolCall, verdict: &str, mode: Mode, why: Why) -> Record {
    Record::Own(Own::Verdict {
        tool_use_id: call.id.0.clone(),
        verdict: verdict.to_owned(),
        mode: Some(mode),
        why,
    })
}

/// Why a call that was asked about does not run.
fn refused_why(source: AnswerSource, reason: Option<&str>) -> Why {
    let by = match source {
        AnswerSource::Person | AnswerSource::Dismissed => "person",
        AnswerSource::Timeout => "timeout",
        AnswerSource::Gone => "no-one",
        AnswerSource::Hook => "hook",
    };
    let reason = reason.unwrap_or_default().to_owned();
    Why { by: by.to_owned(), reason, ..Why::default() }
}

fn denied_by(source: AnswerSource) -> DeniedBy {
    match source {
        AnswerSource::Person | AnswerSource::Dismissed => DeniedBy::Person,
        AnswerSource::Timeout | AnswerSource::Gone => DeniedBy::NoOne,
        AnswerSource::Hook => DeniedBy::Hook,
    }
}

/// What the model is told of a refusal; it may go on without the call.
fn denial_text(source: AnswerSource, reason: Option<&str>) -> String {
    let what = match source {
        AnswerSource::Person | AnswerSource::Dismissed => {
            "The user does not want this call to run."
        }
        AnswerSource::Timeout => {
            "Nobody answered the permission request in time, so the call was not run."
        }
        AnswerSource::Gone => {
            "Nobody can be asked for permission any more, so the call was not run."
        }
        AnswerSource::Hook => "A hook does not let this call run.",
    };
    match reason {
        Some(reason) if source == AnswerSource::Hook => format!("{what} It says: {reason}"),
        Some(reason) => format!("{what} The user says: {reason}"),
        None => format!("{what} Go on without it if you can, or say what you would need."),
    }
}
