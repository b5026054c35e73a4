//! Makes a request again where that helps, with caps on attempts and waiting
//! (spec/ipc.md 5.2.7). It never hides that it does so.

use std::time::Duration;

use futures::{StreamExt as _, stream};
use ostler_protocol::ErrorKind;
use ostler_stdx::Cancel;

use crate::{Failure, ModelEvent, ModelStream, failure};

/// How often a request is made, and how long the pauses are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Where the vendor limits the rate.
    pub rate_limit: Attempts,
    /// Where the vendor or the network fails for the moment.
    pub transient: Attempts,
    /// The longest pause of our own choice.
    pub max_delay: Duration,
    /// The longest pause that a vendor may ask for; a longer one ends the request.
    pub max_asked: Duration,
}

/// Attempts for one kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempts {
    /// How many in all, the first included.
    pub count: u32,
    /// Pause after the first; it doubles after each.
    pub first_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            rate_limit: Attempts { count: 5, first_delay: Duration::from_secs(5) },
            transient: Attempts { count: 3, first_delay: Duration::from_secs(1) },
            max_delay: Duration::from_secs(30),
            max_asked: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// The same attempts with pauses of a millisecond; for scripts and tests.
    #[must_use]
    pub fn immediate() -> Self {
        let mut policy = Self::default();
        policy.rate_limit.first_delay = Duration::from_millis(1);
        policy.transient.first_delay = Duration::from_millis(1);
        policy.max_delay = Duration::from_millis(1);
        policy
    }

    /// The same pauses with at most `retries` attempts after the first
    /// (`CLAUDE_CODE_MAX_RETRIES`).
    #[must_use]
    pub fn with_max_retries(mut self, retries: u32) -> Self {
        self.rate_limit.count = retries.saturating_add(1);
        self.transient.count = retries.saturating_add(1);
        self
    }

    fn attempts(&self, kind: ErrorKind) -> Option<Attempts> {
        match kind {
            ErrorKind::RateLimit => Some(self.rate_limit),
            ErrorKind::Overloaded
            | ErrorKind::Server
            | ErrorKind::Network
            | ErrorKind::Stalled
            | ErrorKind::BadStream => Some(self.transient),
            _ => None,
        }
    }

    /// The pause before attempt `attempt + 1`, and the last attempt; `None` gives up.
    fn next(&self, attempt: u32, failure: &Failure) -> Option<(Duration, u32)> {
        let attempts = self.attempts(failure.kind).filter(|it| attempt < it.count)?;
        let doublings = attempt.saturating_sub(1).min(20);
        let own = attempts.first_delay.saturating_mul(1 << doublings).min(self.max_delay);
        let asked = failure.retry_after_ms.map(Duration::from_millis);
        if asked.is_some_and(|asked| asked > self.max_asked) {
            return None;
        }
        Some((asked.unwrap_or(own), attempts.count))
    }
}

/// Starts one attempt: a stream that ends with `Done` or `Failed`.
pub(crate) type Attempt = Box<dyn FnMut() -> ModelStream + Send>;

struct Driver {
    policy: RetryPolicy,
    cancel: Cancel,
    start: Attempt,
    attempt: u32,
    pause: Option<Duration>,
    current: Option<ModelStream>,
    ended: bool,
}

/// Runs attempts until one is done, the caps are reached, or `cancel`.
pub(crate) fn drive(policy: RetryPolicy, cancel: Cancel, start: Attempt) -> ModelStream {
    let driver =
        Driver { policy, cancel, start, attempt: 1, pause: None, current: None, ended: false };
    let events = stream::unfold(driver, |mut driver| async move {
        let event = driver.next().await?;
        Some((event, driver))
    });
    // Whoever polls once more after the end gets the end again, not a panic.
    Box::pin(events.fuse())
}

impl Driver {
    async fn next(&mut self) -> Option<ModelEvent> {
        if self.ended {
            return None;
        }
        let event = tokio::select! {
            biased;
            () = self.cancel.cancelled() => None,
            event = attempt_event(&mut self.pause, &mut self.current, &mut self.start) => Some(event),
        };
        match event {
            None => {
                // Dropping the attempt closes its connection at once.
                self.current = None;
                self.ended = true;
                None
            }
            Some(ModelEvent::Failed(failure)) => Some(self.failed(failure)),
            Some(event) => {
                self.ended = matches!(event, ModelEvent::Done { .. });
                Some(event)
            }
        }
    }

    fn failed(&mut self, mut failure: Failure) -> ModelEvent {
        self.current = None;
        let Some((delay, max)) = self.policy.next(self.attempt, &failure) else {
            self.ended = true;
            if self.attempt > 1 {
                failure.message = format!("{} (attempt {})", failure.message, self.attempt);
            }
            return ModelEvent::Failed(failure);
        };
        self.attempt += 1;
        self.pause = Some(delay);
        let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        ModelEvent::Retrying { attempt: self.attempt, max, delay_ms, failure }
    }
}

async fn attempt_event(
    pause: &mut Option<Duration>,
    current: &mut Option<ModelStream>,
    start: &mut Attempt,
) -> ModelEvent {
    if let Some(delay) = *pause {
        tokio::time::sleep(delay).await;
        *pause = None;
    }
    let stream = current.get_or_insert_with(start);
    stream.next().await.unwrap_or_else(|| {
        ModelEvent::Failed(failure::plain(
            ErrorKind::BadStream,
            "the answer ended without its last event",
            "try again; if it stays so, the server breaks the protocol",
        ))
    })
}

#[cfg(test)]
mod tests;
