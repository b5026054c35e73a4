//! What a session emits, on its way to everyone who looks.
//!
//! One hub per session. It numbers the events of our own protocol once, so that all
//! subscribers agree, keeps the newest of them for those who come back (ipc.md 1.2), and
//! hands the unprojected ones to doors of foreign protocols. It never blocks a session.

mod prompts;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::BoxFuture;
use ostler_core::{AskedEvent, SessionEvent, Sink};
use ostler_protocol::{Event, EventKind, Mode, RequestId, SessionId, session::SessionState};

use crate::{outlet::Outlet, project::Projector};
pub(crate) use prompts::Known;
use prompts::Prompts;

/// Events kept for those who come back (ipc.md 1.2).
const RING_EVENTS: usize = 1000;

/// Bytes kept for those who come back; one event counts at most [`EVENT_BYTES`].
const RING_BYTES: usize = 4 << 20;
const EVENT_BYTES: usize = 1 << 20;

/// An event as subscribers get it: shared, with its JSON made once.
#[derive(Debug, Clone)]
pub struct Published {
    /// Its number in the session; 0 for events of the host.
    pub seq: u64,
    /// The session; none for events of the host.
    pub session_id: Option<SessionId>,
    /// The event as one line of JSON, without the line's end.
    pub json: Arc<str>,
}

/// Told when what a session is doing changes, so that lists can follow.
pub(crate) type OnChange = Arc<dyn Fn(&SessionId) + Send + Sync>;

#[derive(Default)]
struct State {
    seq: u64,
    ring: VecDeque<Published>,
    ring_bytes: usize,
    projector: Option<Projector>,
    subscribers: Vec<Subscriber>,
    raw: Vec<Outlet<Arc<SessionEvent>>>,
    running: bool,
    prompts: Prompts,
    failed: bool,
    /// The mode, once it changed.
    mode: Option<Mode>,
}

struct Subscriber {
    client: String,
    outlet: Outlet<Published>,
}

/// The hub of one session.
pub struct SessionHub {
    session_id: SessionId,
    epoch: String,
    state: Mutex<State>,
    on_change: OnChange,
    /// Held while one answer is carried out, so that of two the second finds it done.
    answering: tokio::sync::Mutex<()>,
}

impl std::fmt::Debug for SessionHub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionHub").field("session_id", &self.session_id).finish_non_exhaustive()
    }
}

impl SessionHub {
    /// A hub. Without `project`, only unprojected events go out: no front end of our own
    /// protocol can subscribe.
    pub(crate) fn new(
        session_id: SessionId,
        epoch: String,
        project: Option<(String, Mode)>,
        on_change: OnChange,
    ) -> Self {
        let projector = project.map(|(path, mode)| Projector::new(path, mode));
        let state = Mutex::new(State { projector, ..State::default() });
        Self { session_id, epoch, state, on_change, answering: tokio::sync::Mutex::new(()) }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the newest event.
    pub fn seq(&self) -> u64 {
        self.state().seq
    }

    /// What the session is doing, and how many requests wait.
    pub(crate) fn doing(&self) -> (SessionState, u32) {
        let state = self.state();
        let pending = u32::try_from(state.prompts.len()).unwrap_or(u32::MAX);
        let doing = match (pending, state.running, state.failed) {
            (1.., _, _) => SessionState::NeedsYou,
            (0, true, _) => SessionState::Running,
            (0, false, true) => SessionState::Failed,
            (0, false, false) => SessionState::Idle,
        };
        (doing, pending)
    }

    /// The mode in force, if it ever changed: by a person, a host or the model itself.
    pub(crate) fn mode(&self) -> Option<Mode> {
        self.state().mode
    }

    /// The mode is about to be this.
    pub(crate) fn note_mode(&self, mode: Mode) {
        self.state().mode = Some(mode);
    }

    /// Tells a person something about the session; it is no part of the conversation.
    pub(crate) fn notice(&self, text: String) {
        self.emit(SessionEvent::Notice { warn: true, text, key: "notice.settings" });
    }

    /// The open requests, oldest first.
    pub(crate) fn requests(&self) -> Vec<AskedEvent> {
        self.state().prompts.open().to_vec()
    }

    /// What is known of a request.
    pub(crate) fn request(&self, id: &RequestId) -> Option<Known> {
        self.state().prompts.find(id)
    }

    /// Waits until no other answer of this session is being carried out.
    pub(crate) async fn answering(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.answering.lock().await
    }

    /// Subscribes a client after a place in the stream. Gives the newest number and
    /// whether events were lost. A client that is subscribed already starts again.
    pub(crate) fn subscribe(
        &self,
        client: &str,
        outlet: Outlet<Published>,
        after: Option<u64>,
    ) -> (u64, bool) {
        let mut state = self.state();
        state.subscribers.retain(|subscriber| subscriber.client != client);
        let newest = state.seq;
        let oldest = state.ring.front().map_or(newest + 1, |event| event.seq);
        let gap = after.is_some_and(|after| after > newest || after.saturating_add(1) < oldest);
        if let Some(after) = after.filter(|_| !gap) {
            for event in state.ring.iter().filter(|event| event.seq > after) {
                outlet.replay(event.clone(), event.json.len());
            }
        }
        state.subscribers.push(Subscriber { client: client.to_owned(), outlet });
        (newest, gap)
    }

    /// Replays everything after a number and goes on, as one stream of one session: a gap
    /// shows as `stream_gap` with id = its `to`. `None` means live only.
    pub(crate) fn follow(&self, client: &str, outlet: Outlet<Published>, after: Option<u64>) {
        let mut state = self.state();
        state.subscribers.retain(|subscriber| subscriber.client != client);
        if let Some(after) = after {
            let oldest = state.ring.front().map_or(state.seq + 1, |event| event.seq);
            // A number of another process tells nothing of what was missed: all of it was.
            let after = if after > state.seq { 0 } else { after };
            if after + 1 < oldest {
                let kind = EventKind::StreamGap { from: after + 1, to: oldest - 1 };
                outlet.replay(self.publish(oldest - 1, None, kind), 100);
            }
            for event in state.ring.iter().filter(|event| event.seq > after) {
                outlet.replay(event.clone(), event.json.len());
            }
        }
        state.subscribers.push(Subscriber { client: client.to_owned(), outlet });
    }

    /// Ends a subscription.
    pub(crate) fn unsubscribe(&self, client: &str) {
        self.state().subscribers.retain(|subscriber| subscriber.client != client);
    }

    /// Whether a front end looks that can answer a request.
    pub(crate) fn is_watched(&self) -> bool {
        let mut state = self.state();
        state.subscribers.retain(|subscriber| !subscriber.outlet.is_closed());
        !state.subscribers.is_empty()
    }

    /// Hands out unprojected events, in order, from here on.
    pub fn raw(&self, outlet: Outlet<Arc<SessionEvent>>) {
        self.state().raw.push(outlet);
    }

    fn publish(
        &self,
        seq: u64,
        run_id: Option<&ostler_protocol::RunId>,
        kind: EventKind,
    ) -> Published {
        let event = Event {
            session_id: Some(self.session_id.clone()),
            seq: Some(seq),
            epoch: Some(self.epoch.clone()),
            run_id: run_id.cloned(),
            kind,
        };
        let json = serde_json::to_string(&event).unwrap_or_default();
        Published { seq, session_id: Some(self.session_id.clone()), json: json.into() }
    }

    /// Notes what the session is doing; true if that changed.
    fn follow_state(state: &mut State, event: &SessionEvent) -> bool {
        let before = (state.running, state.prompts.len(), state.failed);
        match event {
            SessionEvent::RunStarted { .. } => (state.running, state.failed) = (true, false),
            SessionEvent::Asked(asked) => state.prompts.asked(asked),
            SessionEvent::Answered { request_id, .. }
            | SessionEvent::Withdrawn { request_id, .. } => {
                state.prompts.over(request_id);
            }
            SessionEvent::RunFailed { .. } => state.failed = true,
            SessionEvent::RunEnded(_) => {
                state.running = false;
                state.prompts.all_over();
            }
            SessionEvent::ModeChanged(mode) => {
                state.mode = Some(*mode);
                return true;
            }
            SessionEvent::Titled(_) | SessionEvent::ModelChanged { .. } => return true,
            _ => {}
        }
        before != (state.running, state.prompts.len(), state.failed)
    }
}

/// About how many bytes an event holds: what can be large in it.
fn weight(event: &SessionEvent) -> usize {
    const SMALL: usize = 256;
    SMALL
        + match event {
            SessionEvent::TextDelta(delta) | SessionEvent::ThinkingDelta(delta) => delta.text.len(),
            SessionEvent::InputDelta { json, .. } => json.len(),
            SessionEvent::ModelDone { text, thinking, .. } => text.len() + thinking.len(),
            SessionEvent::BlockDone { block, .. } => block.text_len(),
            SessionEvent::UserMessage { content, .. } => content.text_len(),
            SessionEvent::HookRan(run) => run.stdout.len() + run.stderr.len(),
            // The structured output says the same again.
            SessionEvent::ToolDone(done) => 2 * done.content.text_len(),
            _ => 0,
        }
}

impl Sink for SessionHub {
    fn emit(&self, event: SessionEvent) {
        let mut guard = self.state();
        let state = &mut *guard;
        let changed = Self::follow_state(state, &event);
        if let Some(projector) = &mut state.projector {
            for kind in projector.project(&event) {
                state.seq += 1;
                let published = self.publish(state.seq, projector.run_id(), kind);
                let bytes = published.json.len();
                state
                    .subscribers
                    .retain(|subscriber| subscriber.outlet.push(published.clone(), bytes));
                state.ring_bytes += bytes.min(EVENT_BYTES);
                state.ring.push_back(published);
            }
            while state.ring.len() > RING_EVENTS || state.ring_bytes > RING_BYTES {
                let Some(oldest) = state.ring.pop_front() else { break };
                state.ring_bytes -= oldest.json.len().min(EVENT_BYTES);
            }
        }
        if !state.raw.is_empty() {
            let shared = Arc::new(event);
            let bytes = weight(&shared);
            state.raw.retain(|outlet| outlet.push(Arc::clone(&shared), bytes));
        }
        drop(guard);
        if changed {
            (self.on_change)(&self.session_id);
        }
    }

    fn ready(&self) -> Option<BoxFuture<'static, ()>> {
        let state = self.state();
        if let Some(full) = state.raw.iter().find(|outlet| outlet.is_full()) {
            let full = full.clone();
            return Some(Box::pin(async move { full.drained().await }));
        }
        let full = state
            .subscribers
            .iter()
            .map(|subscriber| &subscriber.outlet)
            .find(|outlet| outlet.is_full())?
            .clone();
        Some(Box::pin(async move { full.drained().await }))
    }
}
