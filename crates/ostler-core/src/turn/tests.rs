//! Properties of the machine over generated interleavings: stop anywhere, tools finishing
//! in any order, streams dying anywhere, duplicate and late inputs.

use std::collections::{BTreeSet, HashMap, HashSet};

use ostler_protocol::{
    Block, ErrorKind, MessageId, Mode, RequestId, ToolCallId, Usage,
    conversation::ToolResultContent,
};
use ostler_provider::{BlockKind, Failure, ModelEvent, ModelRequest, StopReason, validate};
use ostler_stdx::IdGen;
use ostler_store::record::{Entry, EntryBody, Own, Record, Why};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{context, event::SessionEvent, mend};
use ostler_tool::Note;

/// What a generated world does next.
#[derive(Debug, Clone)]
enum Op {
    Prompt,
    Interrupt,
    Model(u8),
    Judge(u8, u8),
    Answer(u8, u8),
    ToolDone(u8, bool),
    Dequeue,
    SetMode(u8),
    Note(bool),
    LateModel,
    LateTool,
    LateAnswer,
    Advise(u8),
    LateAdvice,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        2 => Just(Op::Prompt),
        1 => Just(Op::Interrupt),
        12 => (0u8..10).prop_map(Op::Model),
        6 => (any::<u8>(), 0u8..3).prop_map(|(at, verdict)| Op::Judge(at, verdict)),
        4 => (any::<u8>(), 0u8..4).prop_map(|(at, answer)| Op::Answer(at, answer)),
        6 => (any::<u8>(), any::<bool>()).prop_map(|(at, ok)| Op::ToolDone(at, ok)),
        1 => Just(Op::Dequeue),
        1 => (0u8..8).prop_map(Op::SetMode),
        2 => any::<bool>().prop_map(Op::Note),
        1 => Just(Op::LateModel),
        1 => Just(Op::LateTool),
        1 => Just(Op::LateAnswer),
        8 => (0u8..8).prop_map(Op::Advise),
        1 => Just(Op::LateAdvice),
    ];
    prop::collection::vec(op, 0..120)
}

/// The world around the machine: a log, a model, tools, a person.
struct World {
    turn: Turn,
    entries: Vec<Entry>,
    cut: HashSet<String>,
    written: HashSet<String>,
    open_run: Option<String>,
    model: Option<u64>,
    next_block: u32,
    next_call: u32,
    judging: Vec<ToolCallId>,
    /// The newest verdict in the log, by call.
    verdicts: HashMap<String, String>,
    asking: Vec<RequestId>,
    consulting: Option<u64>,
    running: Vec<ToolCallId>,
    started: HashMap<ToolCallId, u32>,
    done: HashMap<ToolCallId, u32>,
    runs: i32,
    previous: Option<Vec<Block>>,
    emitted_n: HashMap<(MessageId, u32), u32>,
}

impl World {
    fn new(join_waiting: bool) -> Self {
        let readers = BTreeSet::from(["read".to_owned()]);
        let policy = Policy { max_responses: Some(50), join_waiting, readers };
        Self {
            turn: Turn::new(IdGen::seeded(1), policy, Mode::Default, Vec::new(), Vec::new()),
            entries: Vec::new(),
            cut: HashSet::new(),
            written: HashSet::new(),
            open_run: None,
            model: None,
            next_block: 0,
            next_call: 0,
            judging: Vec::new(),
            verdicts: HashMap::new(),
            asking: Vec::new(),
            consulting: None,
            running: Vec::new(),
            started: HashMap::new(),
            done: HashMap::new(),
            runs: 0,
            previous: None,
            emitted_n: HashMap::new(),
        }
    }

    fn feed(&mut self, input: Input) {
        for effect in step(&mut self.turn, input) {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Append(records) => records.into_iter().for_each(|record| self.write(record)),
            Effect::Emit(event) => self.see(&event),
            Effect::Delta(_, event) => {
                let (SessionEvent::TextDelta(delta) | SessionEvent::ThinkingDelta(delta)) = event
                else {
                    panic!("only text and reasoning are journalled")
                };
                let n = self.emitted_n.entry((delta.message_id, delta.block)).or_default();
                assert_eq!(delta.n, *n, "deltas of a block count up without gaps");
                *n += 1;
            }
            Effect::CallModel { call } => self.called(call),
            Effect::StopModel => self.model = None,
            Effect::Judge { call, .. } => self.judging.push(call.id),
            Effect::RunTool(call) => {
                let verdict = self.verdicts.remove(&call.id.0);
                assert_eq!(verdict.as_deref(), Some("allow"), "the log says first that it may run");
                self.running.push(call.id);
            }
            Effect::Consult { id, .. } => {
                assert_eq!(self.consulting.replace(id), None, "one question at a time");
            }
            Effect::StopConsulting => self.consulting = None,
            Effect::Sync | Effect::ClearJournal | Effect::CancelTools => {}
        }
    }

    fn write(&mut self, record: Record) {
        match record {
            Record::Own(Own::Verdict { tool_use_id, verdict, .. }) => {
                self.verdicts.insert(tool_use_id, verdict);
            }
            Record::User(user) => {
                self.written.insert(user.uuid.clone());
                self.entries.push(Entry { at_ms: 0, body: EntryBody::User(user) });
            }
            Record::Assistant(assistant) => {
                assert!(self.written.insert(assistant.uuid.clone()), "entry names are unique");
                self.entries.push(Entry { at_ms: 0, body: EntryBody::Assistant(assistant) });
            }
            Record::Own(Own::Void { uuids }) => {
                self.entries.retain(|entry| !uuids.iter().any(|uuid| uuid == entry.uuid()));
            }
            Record::Own(Own::RunStarted { run_id, .. }) => self.open_run = Some(run_id),
            Record::Own(Own::RunEnded { .. }) => self.open_run = None,
            Record::Own(Own::Cut { tool_use_ids }) => self.cut.extend(tool_use_ids),
            _ => {}
        }
    }

    /// Invariant 1: what is final is in the log before it is seen.
    fn see(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::UserMessage { message_id, .. } => {
                assert!(self.written.contains(&message_id.0))
            }
            SessionEvent::BlockDone { uuid, .. } => assert!(self.written.contains(uuid)),
            SessionEvent::ToolStarted { tool_call_id, .. } => {
                *self.started.entry(tool_call_id.clone()).or_default() += 1;
            }
            SessionEvent::ToolDone(done) => {
                assert!(self.written.contains(&done.uuid));
                *self.done.entry(done.tool_call_id.clone()).or_default() += 1;
            }
            SessionEvent::Asked(asked) => self.asking.push(asked.request_id.clone()),
            SessionEvent::Answered { request_id, .. }
            | SessionEvent::Withdrawn { request_id, .. } => {
                self.asking.retain(|open| open != request_id);
            }
            SessionEvent::RunStarted { .. } => self.runs += 1,
            SessionEvent::RunEnded(_) => {
                self.runs -= 1;
                assert_eq!(self.runs, 0, "runs do not overlap");
                // Invariant 3: every started call has exactly one end.
                for (call, times) in &self.started {
                    assert_eq!(
                        self.done.get(call),
                        Some(times),
                        "{call} has one end for each start"
                    );
                }
            }
            _ => {}
        }
    }

    /// Invariants 3 and 8: what goes out is a history that vendors take, and it begins
    /// with what went out before.
    fn called(&mut self, call: u64) {
        let request = self.request();
        validate::check(&request)
            .unwrap_or_else(|problems| panic!("{problems:?}\n{:#?}", request.messages));
        let blocks: Vec<Block> =
            request.messages.into_iter().flat_map(|message| message.content).collect();
        if let Some(previous) = self.previous.replace(blocks.clone()) {
            assert_eq!(blocks.get(..previous.len()), Some(&previous[..]), "the prefix holds");
        }
        self.model = Some(call);
        self.next_block = 0;
    }

    fn request(&self) -> ModelRequest {
        ModelRequest {
            messages: context::messages(&self.entries, None, &self.cut),
            ..ModelRequest::default()
        }
    }

    fn apply(&mut self, op: &Op) {
        match op {
            Op::Prompt => self.feed(Input::Prompt(prompt("hello"))),
            Op::Interrupt => self.feed(Input::Interrupt),
            Op::Model(kind) => self.model_event(*kind),
            Op::Judge(at, verdict) => {
                if let Some(call_id) = pick(&mut self.judging, *at) {
                    self.feed(Input::Judged { call_id, ruled: Box::new(ruling(*verdict).into()) });
                }
            }
            Op::Answer(at, kind) => {
                if !self.asking.is_empty() {
                    let request_id = self.asking[usize::from(*at) % self.asking.len()].clone();
                    self.feed(Input::Answered { request_id, answer: answer(*kind) });
                }
            }
            Op::ToolDone(at, ok) => {
                if let Some(call_id) = pick(&mut self.running, *at) {
                    self.feed(Input::ToolDone {
                        call_id: call_id.clone(),
                        outcome: outcome(*ok),
                        ms: 1,
                    });
                    // The same report again changes nothing.
                    self.feed(Input::ToolDone { call_id, outcome: outcome(*ok), ms: 1 });
                }
            }
            Op::Dequeue => {
                let first = self.turn.queue().next().map(|item| item.id.clone());
                if let Some(id) = first {
                    self.feed(Input::Dequeue { id });
                }
            }
            Op::SetMode(at) => self.feed(Input::SetMode(Mode::ALL[usize::from(*at)])),
            Op::Note(ends) => self.feed(Input::Note { note: note(*ends), at_ms: 0 }),
            Op::LateModel => {
                let event = ModelEvent::TextDelta { index: 0, text: "late".to_owned() };
                self.feed(Input::Model { call: 0, event });
            }
            Op::LateTool => {
                let call_id = ToolCallId::from("nobody");
                self.feed(Input::ToolDone { call_id, outcome: outcome(true), ms: 1 });
            }
            Op::Advise(kind) => self.advise(*kind),
            Op::LateAdvice => self.feed(Input::Advised { id: 0, advice: advice(1) }),
            Op::LateAnswer => {
                self.feed(Input::Answered {
                    request_id: RequestId::from("nobody"),
                    answer: answer(0),
                });
            }
        }
    }

    fn advise(&mut self, kind: u8) {
        if let Some(id) = self.consulting.take() {
            self.feed(Input::Advised { id, advice: advice(kind) });
            // The same answer again changes nothing.
            self.feed(Input::Advised { id, advice: advice(kind) });
        }
    }

    fn model_event(&mut self, kind: u8) {
        let Some(call) = self.model else { return };
        let index = self.next_block;
        let send = |world: &mut Self, event| world.feed(Input::Model { call, event });
        match kind {
            0 => send(
                self,
                ModelEvent::Started {
                    message_id: "vendor".to_owned(),
                    model: "m".to_owned(),
                    request_id: None,
                    usage: Usage::default(),
                },
            ),
            1 => send(self, ModelEvent::BlockStarted { index, kind: BlockKind::Text }),
            2 => send(self, ModelEvent::TextDelta { index, text: "some words".to_owned() }),
            3 => send(self, ModelEvent::ThinkingDelta { index, text: "hm".to_owned() }),
            4 => {
                send(self, ModelEvent::BlockDone { index, block: Block::text("whole words") });
                self.next_block += 1;
            }
            5 | 6 => {
                self.next_call += 1;
                let id = format!("call-{}", self.next_call);
                let name = if kind == 5 { "Read" } else { "Write" }.to_owned();
                let kind = BlockKind::ToolUse { id: id.clone(), name: name.clone() };
                send(self, ModelEvent::BlockStarted { index, kind });
                send(self, ModelEvent::InputDelta { index, json: "{}".to_owned() });
                send(
                    self,
                    ModelEvent::BlockDone {
                        index,
                        block: Block::ToolUse { id, name, input: json!({}) },
                    },
                );
                self.next_block += 1;
            }
            7 => {
                self.previous = None;
                self.next_block = 0;
                let failure = failure();
                send(self, ModelEvent::Retrying { attempt: 2, max: 3, delay_ms: 1, failure });
            }
            8 => {
                self.model = None;
                send(
                    self,
                    ModelEvent::Done { stop_reason: StopReason::EndTurn, usage: Usage::default() },
                );
            }
            _ => {
                self.model = None;
                send(self, ModelEvent::Failed(failure()));
            }
        }
    }

    /// Invariant 12: after an interruption, idle as soon as running tools have ended.
    fn settle(&mut self) {
        self.feed(Input::ClearQueue);
        self.feed(Input::Interrupt);
        while let Some(call_id) = self.running.pop() {
            self.feed(Input::ToolDone { call_id, outcome: outcome(false), ms: 1 });
        }
        assert!(self.turn.is_idle());
        assert!(self.turn.open_requests().is_empty());
        assert_eq!(self.runs, 0);
        assert_eq!(self.open_run, None);
    }
}

/// A task that starts, or one that ends and tells the model.
fn note(ends: bool) -> Note {
    let task = ostler_protocol::BackgroundTask {
        id: "bash_1".to_owned(),
        kind: ostler_protocol::TaskKind::Shell,
        title: "build".to_owned(),
        command: None,
        state: if ends {
            ostler_protocol::TaskState::Completed
        } else {
            ostler_protocol::TaskState::Running
        },
        started_at: 0,
        ended_at: None,
        exit_code: None,
        tool_call_id: ToolCallId::from("call"),
        output_file: None,
    };
    Note::Task { task, tell: ends.then(|| "completed".to_owned()) }
}

fn pick<T>(items: &mut Vec<T>, at: u8) -> Option<T> {
    if items.is_empty() { None } else { Some(items.remove(usize::from(at) % items.len())) }
}

fn prompt(text: &str) -> Prompt {
    Prompt {
        uuid: None,
        content: ToolResultContent::Text(text.to_owned()),
        at_ms: 0,
        client_id: None,
        origin: None,
        note: false,
    }
}

fn ruling(kind: u8) -> Ruling {
    match kind {
        0 => Ruling::Allow { title: "t".to_owned(), why: Why::default() },
        1 => Ruling::Ask(Question::default()),
        _ => Ruling::Deny {
            message: "no".to_owned(),
            by: DeniedBy::Rule,
            reason_kind: None,
            title: "t".to_owned(),
            why: Why::default(),
        },
    }
}

fn advice(kind: u8) -> Advice {
    let aside = |context: &[&str], stop: Option<&str>| Aside {
        context: context.iter().map(|text| (*text).to_owned()).collect(),
        stop: stop.map(str::to_owned),
    };
    match kind {
        1 => Advice { block: Some("blocked".to_owned()), ..Advice::default() },
        2 => Advice { aside: aside(&["more"], None), ..Advice::default() },
        3 => Advice { aside: aside(&[], Some("enough")), ..Advice::default() },
        4 => Advice {
            aside: aside(&["instead"], None),
            hides_prompt: true,
            title: Some("title".to_owned()),
            ..Advice::default()
        },
        _ => Advice::default(),
    }
}

const EVERY_MOMENT: Moments = Moments { prompt: true, batch: true, stop: true };

fn answer(kind: u8) -> Answer {
    let deny = |interrupt, source| Answer::Deny {
        message: None,
        reason: Some("why".to_owned()),
        interrupt,
        source,
    };
    match kind {
        0 => Answer::Allow {
            updated_input: None,
            decision: "allow-once".to_owned(),
            edited_rule: None,
        },
        1 => deny(false, AnswerSource::Person),
        2 => deny(true, AnswerSource::Person),
        _ => deny(false, AnswerSource::Timeout),
    }
}

fn outcome(ok: bool) -> ToolOutcome {
    ToolOutcome {
        changes: Vec::new(),
        records: Vec::new(),
        aside: Box::default(),
        content: ToolResultContent::Text("out".to_owned()),
        structured: json!({}),
        ok,
        interrupted: !ok,
        diffs: Vec::new(),
    }
}

fn failure() -> Failure {
    Failure {
        kind: ErrorKind::Overloaded,
        message: "busy".to_owned(),
        hint: None,
        status: Some(529),
        retry_after_ms: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn invariants_hold_over_any_interleaving(ops in ops(), join: bool, hooks: bool) {
        let mut world = World::new(join);
        world.turn.attend(if hooks { EVERY_MOMENT } else { Moments::default() });
        for op in &ops {
            world.apply(op);
        }
        world.settle();
        world.feed(Input::Prompt(prompt("and then?")));
        world.advise(0);
        prop_assert!(world.model.is_some());
    }

    /// A crash and an interruption at the same point lead to the same next request.
    #[test]
    fn mending_a_crash_equals_an_interruption(ops in ops(), hooks: bool) {
        let mut world = World::new(false);
        world.turn.attend(if hooks { EVERY_MOMENT } else { Moments::default() });
        for op in &ops {
            world.apply(op);
        }
        world.feed(Input::ClearQueue);
        let mut crashed = world.entries.clone();
        let unfinished = world.turn.open_block().map(|(_, _, _, thinking, text)| mend::Unfinished {
            uuid: "u".to_owned(),
            message_id: "vendor".to_owned(),
            model: "m".to_owned(),
            thinking,
            text,
        });
        let many_open = matches!(&world.turn.state, State::Sampling(sampling) if sampling.open_blocks() > 1);
        for record in mend::mend(&crashed, unfinished, world.open_run.as_deref(), &mut IdGen::seeded(9)) {
            match record {
                Record::User(user) => crashed.push(Entry { at_ms: 0, body: EntryBody::User(user) }),
                Record::Assistant(a) => crashed.push(Entry { at_ms: 0, body: EntryBody::Assistant(a) }),
                _ => {}
            }
        }
        world.settle();
        // The journal holds one block; blocks never interleave on a real stream.
        prop_assume!(!many_open);
        // A denial that had not been shown is lost with the process and reads as interrupted.
        let texts = |entries: &[Entry]| {
            let messages = context::messages(entries, None, &HashSet::new());
            let refused = "The user does not want this call to run. The user says: why";
            format!("{messages:?}").replace(refused, mend::CALL_INTERRUPTED).replace(r#"Text("no")"#, &format!("Text({:?})", mend::CALL_INTERRUPTED))
                .replace(r#"Text("out"), is_error: Some(false)"#, &format!("Text({:?}), is_error: Some(true)", mend::CALL_INTERRUPTED))
                .replace(r#"Text("out")"#, &format!("Text({:?})", mend::CALL_INTERRUPTED))
        };
        prop_assert_eq!(texts(&crashed), texts(&world.entries));
    }
}

#[test]
fn results_are_written_in_call_order_whatever_order_they_come_in() {
    let mut world = World::new(false);
    world.feed(Input::Prompt(prompt("go")));
    for kind in [0, 5, 5, 5, 8] {
        world.model_event(kind);
    }
    for _ in 0..3 {
        world.apply(&Op::Judge(0, 0));
    }
    assert_eq!(world.running.len(), 3, "readers run together");
    for at in [2, 1, 0] {
        world.apply(&Op::ToolDone(at, true));
    }
    let order: Vec<_> = world
        .entries
        .iter()
        .filter_map(|entry| match &entry.body {
            EntryBody::User(user) => user.answers().map(str::to_owned),
            EntryBody::Assistant(_) => None,
        })
        .collect();
    assert_eq!(order, ["call-1", "call-2", "call-3"]);
}

#[test]
fn writers_run_one_after_the_other() {
    let mut world = World::new(false);
    world.feed(Input::Prompt(prompt("go")));
    for kind in [0, 6, 6, 8] {
        world.model_event(kind);
    }
    assert_eq!(world.judging.len(), 1, "the second is judged when the first is done");
    world.apply(&Op::Judge(0, 0));
    world.apply(&Op::ToolDone(0, true));
    assert_eq!(world.judging.len(), 1);
}

#[test]
fn a_message_that_waits_joins_or_becomes_its_own_run() {
    for join in [false, true] {
        let mut world = World::new(join);
        world.feed(Input::Prompt(prompt("one")));
        world.feed(Input::Prompt(prompt("two")));
        world.feed(Input::Prompt(prompt("three")));
        world.model_event(4);
        world.model_event(8);
        assert_eq!(world.turn.queue().count(), usize::from(!join));
    }
}

#[test]
fn a_run_that_used_up_its_answers_ends_with_results_written() {
    let mut world = World::new(false);
    world.turn.set_max_responses(Some(1));
    world.feed(Input::Prompt(prompt("go")));
    for kind in [0, 5, 8] {
        world.model_event(kind);
    }
    world.apply(&Op::Judge(0, 0));
    world.apply(&Op::ToolDone(0, true));
    assert!(world.turn.is_idle());
    assert!(mend::open_calls(&world.entries).is_empty());
}

/// The texts of the messages that the newest request adds behind the last answer.
fn last_words(world: &World) -> Vec<String> {
    let messages = world.request().messages;
    messages.last().unwrap().content.iter().map(|block| format!("{block:?}")).collect()
}

#[test]
fn a_note_begins_a_run_or_joins_the_one_that_goes_on() {
    let mut world = World::new(false);
    world.feed(Input::Note { note: note(true), at_ms: 0 });
    assert!(world.model.is_some(), "an idle session takes a note up");
    for kind in [0, 6, 8] {
        world.model_event(kind);
    }
    world.feed(Input::Note { note: note(true), at_ms: 0 });
    world.feed(Input::Prompt(prompt("a person's message")));
    world.apply(&Op::Judge(0, 0));
    world.apply(&Op::ToolDone(0, true));
    let words = last_words(&world);
    assert!(words.iter().any(|text| text.contains("task-notification")), "{words:?}");
    assert!(!words.iter().any(|text| text.contains("a person's message")), "{words:?}");
    assert_eq!(world.turn.queue().count(), 1, "the person's message waits for its own run");
}

#[test]
fn a_note_waits_after_an_interruption_and_goes_with_the_next_prompt() {
    let mut world = World::new(false);
    world.feed(Input::Prompt(prompt("go")));
    world.feed(Input::Note { note: note(true), at_ms: 0 });
    world.feed(Input::Interrupt);
    assert!(world.turn.is_idle(), "a note begins nothing that a person stopped");
    world.feed(Input::Prompt(prompt("and now?")));
    let words = last_words(&world);
    assert!(words[words.len() - 2].contains("task-notification"), "{words:?}");
    assert!(words[words.len() - 1].contains("and now?"), "{words:?}");
}

#[test]
fn tasks_end_with_their_session_and_the_model_reads_so() {
    let mut world = World::new(false);
    world.feed(Input::Prompt(prompt("go")));
    world.feed(Input::Note { note: note(false), at_ms: 0 });
    world.feed(Input::Prompt(prompt("waits")));
    world.turn.hold_queue();
    world.feed(Input::Interrupt);
    let effects = step(&mut world.turn, Input::TasksGone { at_ms: 5 });
    let Some(Effect::Append(records)) = effects.first() else { panic!("{effects:?}") };
    let [Record::Own(Own::Task { task }), Record::Own(Own::Queue { items })] = &records[..] else {
        panic!("{records:?}")
    };
    assert_eq!((task.state, task.ended_at), (ostler_protocol::TaskState::Stopped, Some(5)));
    let waits: Vec<_> = items.iter().map(|item| item.note).collect();
    assert_eq!(waits, [false, true], "what a person sent still waits");
}
