//! What a one-shot run still waits for when its answer is there.

use std::time::Duration;

use ostler_host::{Host, RunEnd, SessionEvent};
use tokio::time::{Instant, sleep_until};

/// Background commands that the process waits for when the run has ended: a command that
/// ends is told to the model by a run of its own, whose answer is then the last one.
pub(super) struct Tasks {
    running: Vec<String>,
    /// The end of the newest run.
    pub(super) end: Option<RunEnd>,
    wait: Duration,
    until: Option<Instant>,
    /// The wait has begun and was not told yet.
    is_news: bool,
}

impl Tasks {
    pub(super) fn new(host: &Host) -> Self {
        Self {
            running: Vec::new(),
            end: None,
            wait: host.env().background_wait(),
            until: None,
            is_news: false,
        }
    }

    /// Takes note of an event; whether nothing goes on any more.
    pub(super) fn ended_by(&mut self, event: &SessionEvent) -> bool {
        match event {
            SessionEvent::RunStarted { .. } => self.end = None,
            SessionEvent::RunEnded(end) => self.end = Some((**end).clone()),
            SessionEvent::TaskChanged { task, .. } if task.is_running() => {
                self.running.push(task.id.clone());
            }
            SessionEvent::TaskChanged { task, tells } => {
                self.running.retain(|id| *id != task.id);
                // The run that tells the model of it begins right after.
                return !tells && self.is_over();
            }
            _ => return false,
        }
        if self.end.is_some() && !self.running.is_empty() && self.until.is_none() {
            self.until = Some(Instant::now() + self.wait);
            self.is_news = true;
        }
        self.is_over()
    }

    /// A line that tells of the wait, once.
    pub(super) fn news(&mut self) -> Option<String> {
        std::mem::take(&mut self.is_news).then(|| {
            let (count, most) = (self.running.len(), self.wait.as_secs());
            format!("waiting for {count} background command(s), {most} s at most; Ctrl-C ends them")
        })
    }

    fn is_over(&self) -> bool {
        self.end.is_some() && self.running.is_empty()
    }

    /// Resolves when they have been waited for long enough.
    pub(super) async fn late(&self) {
        match self.until.filter(|_| self.end.is_some()) {
            Some(until) => sleep_until(until).await,
            None => std::future::pending().await,
        }
    }
}
