//! A bounded queue from a session to one front end.
//!
//! The producer never blocks. A lossless outlet asks the session for patience: model
//! events wait while more than [`SOFT`] items are queued (what is not a delta is finite,
//! so the queue stays bounded). A droppable outlet is closed when it is full; its front
//! end comes back and asks for what it missed (ipc.md R-16).

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::Notify;

/// Queued items above which the producer should wait.
pub const SOFT: usize = 512;

/// Queued items above which a droppable outlet is closed.
const HARD: usize = 1000;

/// Queued bytes above which a droppable outlet is closed.
const HARD_BYTES: usize = 1 << 20;

/// What happens when the front end is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slow {
    /// The session waits.
    Wait,
    /// The outlet is closed.
    Drop,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<(T, usize)>,
    bytes: usize,
    /// Items and bytes of a replay, by which the bounds are wider until the queue is empty.
    replayed: (usize, usize),
    closed: bool,
}

/// One end of the queue; clones share it.
#[derive(Debug)]
pub struct Outlet<T>(Arc<Inner<T>>);

#[derive(Debug)]
struct Inner<T> {
    state: Mutex<State<T>>,
    filled: Notify,
    drained: Notify,
    slow: Slow,
}

impl<T> Clone for Outlet<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Outlet<T> {
    /// An empty queue.
    #[must_use]
    pub fn new(slow: Slow) -> Self {
        let state = State { items: VecDeque::new(), bytes: 0, replayed: (0, 0), closed: false };
        Self(Arc::new(Inner {
            state: Mutex::new(state),
            filled: Notify::new(),
            drained: Notify::new(),
            slow,
        }))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State<T>> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues an item of about `bytes`; false if the outlet is closed.
    pub fn push(&self, item: T, bytes: usize) -> bool {
        let mut state = self.state();
        if state.closed {
            return false;
        }
        if state.items.is_empty() {
            state.replayed = (0, 0);
        }
        let (more_items, more_bytes) = state.replayed;
        let full = state.items.len() >= HARD + more_items
            || state.bytes + bytes > HARD_BYTES + more_bytes && !state.items.is_empty();
        let closes = full && self.0.slow == Slow::Drop;
        if closes {
            state.closed = true;
            state.items.clear();
        } else {
            state.bytes += bytes;
            state.items.push_back((item, bytes));
        }
        drop(state);
        self.0.filled.notify_one();
        !closes
    }

    /// Queues an item that the front end asked for, in addition to the bounds: what a
    /// session keeps for those who come back is larger than what a slow reader may have open.
    pub(crate) fn replay(&self, item: T, bytes: usize) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        if state.items.is_empty() {
            state.replayed = (0, 0);
        }
        state.replayed.0 += 1;
        state.replayed.1 += bytes;
        state.bytes += bytes;
        state.items.push_back((item, bytes));
        drop(state);
        self.0.filled.notify_one();
    }

    /// Whether the producer should wait before the next delta.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let state = self.state();
        self.0.slow == Slow::Wait
            && !state.closed
            && (state.items.len() >= SOFT || state.bytes >= HARD_BYTES)
    }

    /// Resolves when [`Outlet::is_full`] no longer holds.
    pub async fn drained(&self) {
        loop {
            let drained = self.0.drained.notified();
            if !self.is_full() {
                return;
            }
            drained.await;
        }
    }

    /// The next item; `None` once the outlet is closed and empty. One consumer at a time.
    pub async fn next(&self) -> Option<T> {
        loop {
            let filled = self.0.filled.notified();
            {
                let mut state = self.state();
                if let Some((item, bytes)) = state.items.pop_front() {
                    state.bytes -= bytes;
                    drop(state);
                    self.0.drained.notify_waiters();
                    return Some(item);
                }
                if state.closed {
                    return None;
                }
            }
            filled.await;
        }
    }

    /// The next item if there is one already.
    #[must_use]
    pub fn try_next(&self) -> Option<T> {
        let mut state = self.state();
        let (item, bytes) = state.items.pop_front()?;
        state.bytes -= bytes;
        drop(state);
        self.0.drained.notify_waiters();
        Some(item)
    }

    /// Whether nothing is queued.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.state().items.is_empty()
    }

    /// Closes the queue: nothing more is taken, what is queued can still be read.
    pub fn close(&self) {
        self.state().closed = true;
        self.0.filled.notify_one();
        self.0.drained.notify_waiters();
    }

    /// Whether the queue is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// Whether both are ends of one queue.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lossless_outlet_asks_for_patience_and_loses_nothing() {
        let outlet = Outlet::new(Slow::Wait);
        for n in 0..2 * HARD {
            assert!(outlet.push(n, 10));
        }
        assert!(outlet.is_full());
        for n in 0..2 * HARD {
            assert_eq!(outlet.next().await, Some(n));
        }
        outlet.drained().await;
        outlet.close();
        assert_eq!(outlet.next().await, None);
    }

    #[tokio::test]
    async fn a_droppable_outlet_closes_when_its_reader_is_too_slow() {
        let outlet = Outlet::new(Slow::Drop);
        for n in 0..=HARD {
            outlet.push(n, 10);
        }
        assert!(outlet.is_closed());
        assert_eq!(outlet.next().await, None);
        assert!(!outlet.push(1, 1));
    }

    #[tokio::test]
    async fn a_replay_is_in_addition_to_the_bounds() {
        let outlet = Outlet::new(Slow::Drop);
        for n in 0..=HARD {
            outlet.replay(n, HARD_BYTES / 100);
        }
        for n in 0..HARD {
            assert!(outlet.push(n, 10));
        }
        assert!(!outlet.is_closed());
        for n in (0..=HARD).chain(0..HARD) {
            assert_eq!(outlet.next().await, Some(n));
        }
        for n in 0..=HARD {
            outlet.push(n, 10);
        }
        assert!(outlet.is_closed(), "once it is read, the usual bounds hold again");
    }
}
