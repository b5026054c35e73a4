//! How the rest of the host talks to a session's task.

use std::sync::Arc;

use ostler_protocol::{Mode, RequestId};
use tokio::{
    sync::{Mutex, mpsc, oneshot},
    task::JoinHandle,
};

use super::{ModelChoice, SessionSnapshot};
use crate::{
    event::RunEnd,
    turn::{Answer, Prompt},
};

/// What a session can be told.
#[derive(Debug)]
pub enum Command {
    /// A message of the person.
    Prompt {
        /// The message.
        prompt: Prompt,
        /// What becomes of it.
        reply: oneshot::Sender<PromptReply>,
    },
    /// Stop what goes on; answered when the machine has taken it.
    Interrupt {
        /// Drop waiting messages too.
        clear_queue: bool,
        /// Answered with the ids of the messages that still wait.
        reply: oneshot::Sender<Vec<String>>,
    },
    /// Answer an open request.
    Answer {
        /// The request.
        request_id: RequestId,
        /// The answer.
        answer: Answer,
        /// Whether it was open.
        reply: oneshot::Sender<bool>,
    },
    /// Refuse everything that is open: nobody can answer any more.
    RefuseOpen,
    /// Change the mode.
    SetMode(Mode),
    /// Change the model.
    SetModel(Box<ModelChoice>),
    /// Give a title.
    SetTitle(String),
    /// Take a waiting message out.
    Dequeue {
        /// The message.
        id: String,
        /// Whether it was still waiting.
        reply: oneshot::Sender<bool>,
    },
    /// Look at the session.
    Snapshot(oneshot::Sender<(u64, SessionSnapshot)>, Place),
    /// Stop what goes on and take up nothing new; the session is about to end.
    Wind(oneshot::Sender<()>),
    /// End the task: stop what goes on, write what must be written.
    Shutdown(oneshot::Sender<()>),
}

/// Reads a place in a stream of events.
#[derive(Clone)]
pub struct Place(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Place {
    /// A place that `read` tells.
    pub fn new(read: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    pub(super) fn read(&self) -> u64 {
        (self.0)()
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Place")
    }
}

/// What becomes of a prompt.
#[derive(Debug)]
pub enum PromptReply {
    /// Its run started; the end comes through the receiver.
    Started(oneshot::Receiver<RunEnd>),
    /// It waits under this id.
    Queued(String),
    /// Too many wait already.
    Full,
}

/// A session's mailbox. Clones talk to the same session; when the last is dropped the
/// session stops what it does and ends.
#[derive(Debug, Clone)]
pub struct SessionHandle {
    sender: mpsc::Sender<Command>,
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl SessionHandle {
    pub(super) fn new(sender: mpsc::Sender<Command>, task: JoinHandle<()>) -> Self {
        Self { sender, task: Arc::new(Mutex::new(Some(task))) }
    }

    /// Sends a command; false if the session has ended.
    pub async fn tell(&self, command: Command) -> bool {
        self.sender.send(command).await.is_ok()
    }

    async fn ask<T>(&self, make: impl FnOnce(oneshot::Sender<T>) -> Command) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.sender.send(make(reply)).await.ok()?;
        answer.await.ok()
    }

    /// Sends a prompt; `None` if the session has ended.
    pub async fn prompt(&self, prompt: Prompt) -> Option<PromptReply> {
        self.ask(|reply| Command::Prompt { prompt, reply }).await
    }

    /// Stops what goes on and gives the messages that still wait.
    pub async fn interrupt(&self, clear_queue: bool) -> Vec<String> {
        self.ask(|reply| Command::Interrupt { clear_queue, reply }).await.unwrap_or_default()
    }

    /// Answers an open request; false if it is not open.
    pub async fn answer(&self, request_id: RequestId, answer: Answer) -> bool {
        self.ask(|reply| Command::Answer { request_id, answer, reply }).await.unwrap_or(false)
    }

    /// Takes a waiting message out; false if it does not wait.
    pub async fn dequeue(&self, id: String) -> bool {
        self.ask(|reply| Command::Dequeue { id, reply }).await.unwrap_or(false)
    }

    /// Looks at the session; `place` is read at the same moment.
    pub async fn snapshot(&self, place: Place) -> Option<(u64, SessionSnapshot)> {
        self.ask(|reply| Command::Snapshot(reply, place)).await
    }

    /// Stops what goes on; nothing new is taken up, but what is told is still written.
    pub async fn wind_down(&self) {
        self.ask(Command::Wind).await;
    }

    /// Ends the session's task and waits for it.
    pub async fn shutdown(&self) {
        self.ask(Command::Shutdown).await;
        if let Some(task) = self.task.lock().await.take() {
            // A task that panicked has nothing more to end.
            task.await.unwrap_or_default();
        }
    }

    /// Whether the task has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}
