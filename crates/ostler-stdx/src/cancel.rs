//! One way to stop work: a token that is passed down and watched.

use std::future::Future;

use tokio_util::sync::CancellationToken;

/// A request to stop, shared by everything that works for one purpose.
///
/// Clones see the same request; [`Cancel::child`] makes one that can be stopped
/// alone and stops with its parent.
#[derive(Debug, Clone, Default)]
pub struct Cancel(CancellationToken);

impl Cancel {
    /// A token that nobody has cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A token that is cancelled with this one, or alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(self.0.child_token())
    }

    /// Asks everyone who watches this token to stop. Calling it again does nothing.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether the work should stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Resolves when the work should stop. Safe to drop and call again.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + '_ {
        self.0.cancelled()
    }
}
