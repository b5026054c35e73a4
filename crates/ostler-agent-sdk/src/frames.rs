//! Projects what a session emits to frames of the Agent SDK (agent-sdk.md 3, design.md
//! 8 (a)). One line of JSON per frame.
//!
//! The uuid of a frame is the uuid of its transcript entry where there is one. Nothing
//! here reads or writes anything: a door writes the lines that it gets.

mod failure;
mod hooks;
mod result;
mod stream;
mod tasks;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    time::Instant,
};

use ostler_host::{
    COMPATIBILITY_VERSION, Effort, LiveSession, ModelInfo, SessionEvent,
    core::{
        DeniedBy,
        event::{AskedEvent, Denial, ToolDone},
    },
};
use ostler_protocol::{
    BackgroundTask, Block, Mode, RequestId, ToolCallId, Usage, conversation::ToolResultContent,
};
use ostler_stdx::{AbsPath, IdGen};
use serde_json::{Value, json};

use crate::fit;
use result::ModelTotals;
use stream::Stream;

pub(crate) use result::start_failure;

/// A running call is reported this often, in ms.
const PROGRESS_EVERY_MS: u64 = 5_000;

/// Capabilities that `system/init` declares: only what works.
const CAPABILITIES: [&str; 2] = ["interrupt_receipt_v1", "interrupt_cancel_queued_v1"];

/// What a projector must know of its session.
#[derive(Debug, Clone)]
pub struct ProjectorOptions {
    /// The session.
    pub session_id: String,
    /// Its folder.
    pub cwd: String,
    /// The model, as it is shown.
    pub model: String,
    /// What is known of the model.
    pub model_info: ModelInfo,
    /// The mode.
    pub mode: Mode,
    /// Names of the tools that the model can call.
    pub tools: Vec<String>,
    /// Servers that were asked for and are not connected: name and status.
    pub mcp_servers: Vec<(String, String)>,
    /// Values for the vendor's beta header.
    pub betas: Vec<String>,
    /// How hard the model tries, if that was said.
    pub effort: Option<Effort>,
    /// Where the key comes from: `ANTHROPIC_API_KEY` or `none`.
    pub api_key_source: &'static str,
    /// Send `stream_event` frames (`--include-partial-messages`).
    pub partial_messages: bool,
    /// Echo accepted user messages (`--replay-user-messages`).
    pub replay_user_messages: bool,
    /// Send frames of all hooks (`--include-hook-events`); else only of `SessionStart`.
    pub hook_events: bool,
    /// Send `session_state_changed` (`CLAUDE_CODE_SDK_READS_SESSION_STATE=1`).
    pub session_state: bool,
}

impl ProjectorOptions {
    /// The options of a session, with or without stream events.
    #[must_use]
    pub fn of(session: &LiveSession, partial_messages: bool) -> Self {
        Self {
            session_id: session.id.0.clone(),
            cwd: session.cwd.to_text(),
            model: session.model().1,
            model_info: session.model_info(),
            mode: session.mode(),
            tools: session.tools.iter().map(|tool| tool.name().to_owned()).collect(),
            mcp_servers: Vec::new(),
            betas: session.betas().to_vec(),
            effort: session.effort(),
            api_key_source: "none",
            partial_messages,
            replay_user_messages: false,
            hook_events: false,
            session_state: false,
        }
    }
}

/// Turns the events of one session into frames, in order.
#[derive(Debug)]
pub struct Projector {
    options: ProjectorOptions,
    ids: IdGen,
    stream: Stream,
    /// Requests that wait for the host.
    open: HashMap<RequestId, ToolCallId>,
    /// Calls whose request was withdrawn: they count as denied if they never run.
    withdrawn: HashSet<ToolCallId>,
    denied: Vec<Denial>,
    /// Running calls: name, and when they were last reported.
    running: HashMap<ToolCallId, (String, u64)>,
    /// Waiting messages.
    queued: HashSet<String>,
    /// Work that goes on in the background.
    tasks: Vec<BackgroundTask>,
    /// Background work no longer keeps the host waiting.
    waits_no_more: bool,
    project_folder: String,
    /// Since when the model is waited for.
    waiting_since: Option<Instant>,
    api_ms: u64,
    ttft_ms: Option<u64>,
    totals: BTreeMap<String, ModelTotals>,
    /// Whether a turn goes on.
    in_run: bool,
    results: u64,
    last_result_failed: bool,
}

impl Projector {
    /// A projector of a session that has emitted nothing yet.
    #[must_use]
    pub fn new(options: ProjectorOptions) -> Self {
        Self {
            project_folder: options.cwd.clone(),
            options,
            ids: IdGen::random(),
            stream: Stream::default(),
            open: HashMap::new(),
            withdrawn: HashSet::new(),
            denied: Vec::new(),
            running: HashMap::new(),
            queued: HashSet::new(),
            tasks: Vec::new(),
            waits_no_more: false,
            waiting_since: None,
            api_ms: 0,
            ttft_ms: None,
            totals: BTreeMap::new(),
            in_run: false,
            results: 0,
            last_result_failed: false,
        }
    }

    /// The options, to follow changes that no event tells.
    pub fn options_mut(&mut self) -> &mut ProjectorOptions {
        &mut self.options
    }

    /// Whether the newest result had `is_error`.
    #[must_use]
    pub fn last_result_failed(&self) -> bool {
        self.last_result_failed
    }

    /// The frames of one event, each a line without its end.
    pub fn project(&mut self, event: &SessionEvent) -> Vec<String> {
        let mut out = Vec::new();
        self.event(event, &mut out);
        out
    }

    fn event(&mut self, event: &SessionEvent, out: &mut Vec<String>) {
        match event {
            SessionEvent::RunStarted { .. } => self.run_started(out),
            SessionEvent::UserMessage { message_id, content, queued_id, synthetic, .. } => {
                if let Some(id) = queued_id {
                    self.queued.remove(id);
                }
                self.user_message(&message_id.0, content, *synthetic, out);
            }
            SessionEvent::ModelStarted { vendor_id, model, usage, .. } => {
                let ttft = self.waiting_since.map(elapsed_ms);
                self.ttft_ms = self.ttft_ms.or(ttft);
                self.stream.start();
                let started = stream::message_start(vendor_id, model, *usage);
                self.stream_event(started, ttft, out);
            }
            SessionEvent::BlockStarted { index, kind, .. } => {
                let events = self.stream.block_started(*index, kind);
                self.stream_events(events, out);
            }
            SessionEvent::TextDelta(delta) => {
                self.stream_events(stream::text_delta(delta.block, &delta.text), out);
            }
            SessionEvent::ThinkingDelta(delta) => {
                self.stream_events(stream::thinking_delta(delta.block, &delta.text), out);
            }
            SessionEvent::InputDelta { index, json, .. } => {
                self.stream_events(stream::input_delta(*index, json), out);
            }
            SessionEvent::BlockDone {
                vendor_id,
                model,
                uuid,
                index,
                block,
                usage,
                interrupted,
                ..
            } => {
                let before = self.stream.before_done(*index, block);
                self.stream_events(before, out);
                let message = assistant_message(vendor_id, model, block, None, *usage);
                self.assistant(message, uuid, *interrupted, out);
                let after = self.stream.done(*index);
                self.stream_events(after, out);
            }
            SessionEvent::ModelDone { stop_reason, usage, window, .. } => {
                self.model_done(stop_reason.name(), *usage, *window, out);
            }
            SessionEvent::Retrying { attempt, max, delay_ms, failure, .. } => {
                self.stream.start();
                out.push(self.retry(*attempt, *max, *delay_ms, failure));
            }
            SessionEvent::Asked(asked) => self.asked(asked, out),
            SessionEvent::Answered { request_id, .. } => self.no_longer_open(request_id, out),
            SessionEvent::Withdrawn { request_id, .. } => {
                if let Some(call) = self.open.get(request_id) {
                    self.withdrawn.insert(call.clone());
                }
                self.no_longer_open(request_id, out);
            }
            SessionEvent::Denied { tool_call_id, tool_name, by, reason_kind, message } => {
                // A hook's refusal is the host's own word (agent-sdk.md 2.13 D).
                if !matches!(by, DeniedBy::Invalid | DeniedBy::Hook) {
                    let mut frame = json!({
                        "subtype": "permission_denied", "tool_name": tool_name,
                        "tool_use_id": tool_call_id.0, "message": message,
                    });
                    if let Some(kind) = reason_kind {
                        frame["decision_reason_type"] = json!(kind);
                    }
                    out.push(self.system(frame));
                }
            }
            SessionEvent::ToolStarted { tool_call_id, tool_name, .. } => {
                self.running.insert(tool_call_id.clone(), (tool_name.clone(), 0));
            }
            SessionEvent::ToolProgress { tool_call_id, elapsed_ms, .. } => {
                self.progress(tool_call_id, *elapsed_ms, out);
            }
            SessionEvent::ToolDone(done) => self.tool_done(done, out),
            SessionEvent::Queued { id, .. } => {
                self.queued.insert(id.clone());
            }
            SessionEvent::Dequeued { id } => {
                self.queued.remove(id);
            }
            SessionEvent::ModeChanged(mode) => {
                self.options.mode = *mode;
                let mode = mode.sdk_name();
                out.push(
                    self.system(
                        json!({"subtype": "status", "status": null, "permissionMode": mode}),
                    ),
                );
            }
            SessionEvent::ModelChanged { model, .. } => self.options.model.clone_from(model),
            SessionEvent::TaskChanged { task, tells } => self.task_changed(task, *tells, out),
            SessionEvent::FolderChanged(folder) => {
                let project = &self.project_folder;
                self.options.cwd =
                    folder.as_ref().map_or_else(|| project.clone(), AbsPath::to_text);
            }
            SessionEvent::HookStarted(run) => self.hook_started(run, out),
            SessionEvent::HookRan(run) => self.hook_ran(run, out),
            // What a hook says to the person.
            SessionEvent::Notice { text, key: "notice.hook", .. } => {
                let frame = json!({"subtype": "informational", "content": text, "level": "info"});
                out.push(self.system(frame));
            }
            SessionEvent::Titled(_)
            | SessionEvent::Notice { .. }
            | SessionEvent::TodosChanged(_)
            | SessionEvent::PlanChanged(_) => {}
            SessionEvent::RunFailed { failure, uuid } => {
                self.run_begun(out);
                self.run_failed(failure, uuid, out);
            }
            SessionEvent::RunEnded(end) => {
                let ms = if self.in_run { end.ms } else { 0 };
                self.run_begun(out);
                self.in_run = false;
                let line = self.result(end, ms);
                out.push(line);
                if self.is_quiet() {
                    self.state("idle", out);
                }
            }
        }
    }

    /// A turn whose first entry cannot be written ends without having begun; hosts want
    /// `system/init` all the same.
    fn run_begun(&mut self, out: &mut Vec<String>) {
        if !self.in_run {
            self.run_started(out);
        }
    }

    fn run_started(&mut self, out: &mut Vec<String>) {
        self.in_run = true;
        self.waits_no_more = false;
        self.api_ms = 0;
        self.ttft_ms = None;
        self.denied.clear();
        self.withdrawn.clear();
        self.running.clear();
        self.waiting_since = Some(Instant::now());
        self.state("running", out);
        out.push(self.init());
    }

    /// `system/init`, the first frame of every turn.
    fn init(&mut self) -> String {
        let options = &self.options;
        let servers = options.mcp_servers.iter();
        let servers = servers.map(|(name, status)| json!({"name": name, "status": status}));
        let mut frame = json!({
            "subtype": "init",
            "cwd": options.cwd,
            "tools": options.tools,
            "mcp_servers": servers.collect::<Vec<_>>(),
            "model": options.model,
            "permissionMode": options.mode.sdk_name(),
            "slash_commands": [],
            "apiKeySource": options.api_key_source,
            "claude_code_version": COMPATIBILITY_VERSION,
            "output_style": "default",
            "agents": [],
            "skills": [],
            "plugins": [],
            "capabilities": CAPABILITIES,
        });
        if !options.betas.is_empty() {
            frame["betas"] = json!(options.betas);
        }
        if let Some(effort) = options.effort {
            frame["effort"] = json!(effort_name(effort));
        }
        self.system(frame)
    }

    fn user_message(
        &mut self,
        uuid: &str,
        content: &ToolResultContent,
        synthetic: bool,
        out: &mut Vec<String>,
    ) {
        if !synthetic && !self.options.replay_user_messages {
            return;
        }
        let mut frame = self.user(json!(content), uuid);
        if !synthetic {
            frame["isReplay"] = json!(true);
        }
        out.push(fit::line(frame));
    }

    fn user(&self, content: Value, uuid: &str) -> Value {
        json!({
            "type": "user",
            "message": {"role": "user", "content": content},
            "parent_tool_use_id": null,
            "session_id": self.options.session_id,
            "uuid": uuid,
        })
    }

    fn assistant(&mut self, message: Value, uuid: &str, interrupted: bool, out: &mut Vec<String>) {
        let mut frame = json!({
            "type": "assistant",
            "message": message,
            "parent_tool_use_id": null,
            "session_id": self.options.session_id,
            "uuid": uuid,
        });
        if interrupted {
            frame["aborted"] = json!(true);
        }
        out.push(fit::line(frame));
    }

    fn model_done(
        &mut self,
        stop_reason: &str,
        usage: Usage,
        window: Option<u64>,
        out: &mut Vec<String>,
    ) {
        self.count_waiting();
        let known = ModelInfo { context_window: window, ..self.options.model_info.clone() };
        self.totals.entry(self.options.model.clone()).or_default().add(usage, &known);
        let events = self.stream.message_end(stop_reason, usage);
        self.stream_events(events, out);
    }

    fn asked(&mut self, asked: &AskedEvent, out: &mut Vec<String>) {
        self.open.insert(asked.request_id.clone(), asked.tool_call_id.clone());
        if self.open.len() == 1 {
            self.state("requires_action", out);
        }
    }

    fn no_longer_open(&mut self, request_id: &RequestId, out: &mut Vec<String>) {
        if self.open.remove(request_id).is_some() && self.open.is_empty() {
            self.state("running", out);
        }
    }

    fn progress(&mut self, call: &ToolCallId, elapsed_ms: u64, out: &mut Vec<String>) {
        let Some((name, reported)) = self.running.get_mut(call) else { return };
        if elapsed_ms < *reported + PROGRESS_EVERY_MS {
            return;
        }
        *reported = elapsed_ms;
        let name = name.clone();
        let uuid = self.ids.uuid();
        out.push(fit::line(json!({
            "type": "tool_progress", "tool_use_id": call.0, "tool_name": name, "parent_tool_use_id": null,
            "elapsed_time_seconds": elapsed_ms / 1000, "session_id": self.options.session_id, "uuid": uuid,
        })));
    }

    fn tool_done(&mut self, done: &ToolDone, out: &mut Vec<String>) {
        self.running.remove(&done.tool_call_id);
        if done.denied_by == Some(DeniedBy::Interrupt)
            && self.withdrawn.contains(&done.tool_call_id)
        {
            self.denied.push(Denial {
                tool_call_id: done.tool_call_id.clone(),
                tool_name: done.tool_name.clone(),
                args: done.args.clone(),
            });
        }
        self.waiting_since = Some(Instant::now());
        let result = Block::ToolResult {
            tool_use_id: done.tool_call_id.0.clone(),
            content: done.content.clone(),
            is_error: Some(!done.ok),
        };
        let mut frame = self.user(json!([result]), &done.uuid);
        frame["tool_use_result"] = done.structured.clone();
        out.push(fit::line(frame));
    }

    /// Adds the time since the model was asked to that of the run.
    fn count_waiting(&mut self) {
        if let Some(since) = self.waiting_since.take() {
            self.api_ms += elapsed_ms(since);
        }
    }

    fn state(&mut self, state: &str, out: &mut Vec<String>) {
        if self.options.session_state {
            out.push(self.system(json!({"subtype": "session_state_changed", "state": state})));
        }
    }

    /// A `system` frame of these fields, `subtype` first.
    fn system(&mut self, fields: Value) -> String {
        let mut frame = json!({"type": "system"});
        if let (Value::Object(frame), Value::Object(fields)) = (&mut frame, fields) {
            frame.extend(fields);
        }
        frame["session_id"] = json!(self.options.session_id);
        frame["uuid"] = json!(self.ids.uuid());
        fit::line(frame)
    }

    fn stream_events(&mut self, events: Vec<Value>, out: &mut Vec<String>) {
        for event in events {
            self.stream_event(event, None, out);
        }
    }

    fn stream_event(&mut self, event: Value, ttft_ms: Option<u64>, out: &mut Vec<String>) {
        if !self.options.partial_messages {
            return;
        }
        let mut frame = json!({
            "type": "stream_event",
            "event": event,
            "session_id": self.options.session_id,
            "parent_tool_use_id": null,
            "uuid": self.ids.uuid(),
        });
        if let Some(ttft_ms) = ttft_ms {
            frame["ttft_ms"] = json!(ttft_ms);
        }
        out.push(fit::line(frame));
    }
}

fn elapsed_ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn assistant_message(
    id: &str,
    model: &str,
    block: &Block,
    stop_reason: Option<&str>,
    usage: Usage,
) -> Value {
    json!({
        "model": model,
        "id": id,
        "type": "message",
        "role": "assistant",
        "content": [block],
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": result::usage(usage),
    })
}

fn effort_name(effort: Effort) -> &'static str {
    match effort {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::XHigh => "xhigh",
        Effort::Max => "max",
    }
}
