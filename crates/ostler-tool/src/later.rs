//! What a tool tells its session after the call that began it has ended.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;
use ostler_protocol::BackgroundTask;

/// Something that happened in the background.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    /// A task started, or is now as this says. In the log before anyone sees it.
    Task {
        /// The task.
        task: BackgroundTask,
        /// Words for the model about it, as [`Note::Tell`] gives them.
        tell: Option<String>,
    },
    /// Words for the model about a task. They join the running turn; if nothing runs they
    /// begin one.
    Tell {
        /// The task.
        task_id: String,
        /// What the model reads, in plain text.
        text: String,
    },
}

/// The way of notes into a session. Clones lead to the same session.
#[derive(Clone)]
pub struct Later(Option<Arc<Send>>);

type Send = dyn Fn(Note) -> BoxFuture<'static, ()> + std::marker::Send + Sync;

impl Later {
    /// A way that hands each note to `send`, which resolves when the session has room.
    pub fn new(
        send: impl Fn(Note) -> BoxFuture<'static, ()> + std::marker::Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(send)))
    }

    /// A way that drops everything.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// Sends a note; waits while the session has no room. A session that has ended takes
    /// none and says nothing.
    pub async fn send(&self, note: Note) {
        if let Some(send) = &self.0 {
            send(note).await;
        }
    }
}

impl fmt::Debug for Later {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Later")
    }
}
