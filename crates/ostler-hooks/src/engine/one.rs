//! One run of a hook from its start to its report: its time limit, its going on in the
//! background, and what its failure means.

use std::{pin::Pin, sync::Arc, time::Duration};

use futures::FutureExt as _;
use ostler_stdx::Cancel;
use tokio::{sync::oneshot, time::Instant};

use super::{Engine, Firing, Late, Registered, Run, RunEnd, RunOutcome, is_callback, lock};
use crate::{
    Answer, Event, Hook,
    hook::{Action, DEFAULT_TIMEOUT},
    run::{Done, Job},
};

/// How long a model may think about a yes or no, unless the hook says otherwise.
const MODEL_TIMEOUT: Duration = Duration::from_secs(30);

/// How long killing may take: TERM, grace, KILL.
pub(super) const KILLING: Duration = Duration::from_millis(1500);

/// A hook that runs.
struct Going {
    run: Run,
    work: Pin<Box<dyn Future<Output = Done> + Send>>,
    stop: Cancel,
    /// Others were registered in the place of this hook's.
    replaced: Cancel,
    detached: oneshot::Receiver<Answer>,
    started: Instant,
    until: Instant,
}

/// How a hook ended.
enum End {
    Done(Done),
    TimedOut,
    Stopped,
    Replaced,
    /// It goes on by itself.
    Detached(Answer),
}

impl Engine {
    fn start(&self, run: Run, firing: &Firing, registered: &Registered, stop: Cancel) -> Going {
        self.0.observer.started(&run);
        let (detach, detached) = oneshot::channel();
        let job = Job {
            hook: Arc::clone(&run.hook),
            event: run.event,
            input: Arc::new(firing.input.clone()),
            tool_use_id: run.tool_use_id.clone(),
            cancel: stop.clone(),
        };
        let (engine, callbacks) = (self.clone(), registered.callbacks.clone());
        let work = async move { engine.0.executors.run(job, callbacks, detach).await };
        // A hook that makes us fail is a hook that failed.
        let work = std::panic::AssertUnwindSafe(work)
            .catch_unwind()
            .map(|done| done.unwrap_or_else(|_| Done::failed("running it failed inside Ostler")));
        let started = Instant::now();
        let limit = usual_limit(&run.hook).min(firing.limit.unwrap_or(Duration::MAX));
        Going {
            run,
            work: Box::pin(work),
            stop,
            replaced: registered.replaced.clone(),
            detached,
            started,
            until: started + limit,
        }
    }

    /// Runs a hook that is waited for; its name and what it says.
    pub(super) async fn wait_for(
        self,
        run: Run,
        firing: Firing,
        registered: Registered,
    ) -> (String, Answer) {
        let name = run.hook.name.clone();
        let stop = firing.cancel.child();
        let mut going = self.start(run, &firing, &registered, stop);
        let end = going.end().await;
        let answer = match end {
            End::Detached(answer) => {
                if let Some(Some(limit)) = answer.goes_on {
                    going.until = Instant::now() + limit.min(crate::MAX_TIMEOUT);
                }
                self.go_on_in_background(going);
                Answer::default()
            }
            end => self.report(&going, end),
        };
        (name, answer)
    }

    /// Starts a hook that nobody waits for.
    pub(super) fn start_in_background(&self, run: Run, firing: &Firing, registered: &Registered) {
        let going = self.start(run, firing, registered, self.0.end.child());
        self.go_on_in_background(going);
    }

    fn go_on_in_background(&self, mut going: Going) {
        let Ok(place) = Arc::clone(&self.0.room).try_acquire_owned() else {
            let why = Done::failed("too many hooks run in the background already");
            self.report(&going, End::Done(why));
            return;
        };
        let (engine, session_ends) = (self.clone(), self.0.end.clone());
        let task = async move {
            let end = tokio::select! {
                end = going.end_at_last() => end,
                () = session_ends.cancelled() => going.kill(End::Stopped).await,
            };
            let answer = engine.report(&going, end);
            let wakes = going.run.hook.wakes && answer.is_block();
            if answer != Answer::default() {
                engine.0.observer.late(&going.run, Late { answer, wakes });
            }
            drop(place);
        };
        let mut background = lock(&self.0.background);
        // Those that ended are let go of here, so that the set stays small.
        while background.try_join_next().is_some() {}
        background.spawn(task);
    }

    /// Tells the end of a run, and gives what it means for whoever waits.
    fn report(&self, going: &Going, end: End) -> Answer {
        let run = &going.run;
        let (done, outcome, timed_out) = match end {
            End::Done(done) => (done, None, false),
            End::TimedOut => {
                let limit = going.until - going.started;
                let why = format!("it did not end within {:.1} s", limit.as_secs_f64());
                (Done::failed(why), Some(RunOutcome::Error), true)
            }
            End::Replaced => (
                Done::failed("the hooks were replaced meanwhile; try again"),
                Some(RunOutcome::Cancelled),
                true,
            ),
            End::Stopped | End::Detached(_) => {
                (Done::failed("it was stopped"), Some(RunOutcome::Cancelled), false)
            }
        };
        let result = done.result.unwrap_or_else(|| Err("it gave no answer".to_owned()));
        let outcome = outcome.unwrap_or(match result {
            Ok(_) => RunOutcome::Success,
            Err(_) => RunOutcome::Error,
        });
        let (answer, problem) = match result {
            Ok(answer) => (answer, None),
            Err(why) => (failure(run, &why, timed_out), Some(why)),
        };
        let blocked = answer.is_block().then(|| answer.reason.clone().unwrap_or_default());
        let hidden = answer.suppress_output;
        let ms = going.started.elapsed().as_millis();
        self.0.observer.ended(
            run,
            RunEnd {
                outcome,
                stdout: if hidden { String::new() } else { done.stdout },
                stderr: done.stderr,
                exit_code: done.exit_code,
                ms: u64::try_from(ms).unwrap_or(u64::MAX),
                problem,
                blocked,
            },
        );
        answer
    }
}

/// What a failed hook says: nothing, unless it is to block then. A callback that guards a
/// call and does not answer refuses it (agent-sdk.md 2.12).
fn failure(run: &Run, why: &str, timed_out: bool) -> Answer {
    let guards = timed_out && run.event == Event::PreToolUse && is_callback(&run.hook);
    if run.event.can_block() && (run.hook.blocks_on_failure || guards) {
        Answer::refusal(run.event, &format!("the hook `{}` failed: {why}", run.hook.name))
    } else {
        Answer::default()
    }
}

fn usual_limit(hook: &Hook) -> Duration {
    match hook.action {
        Action::Prompt { .. } => hook.timeout_or(MODEL_TIMEOUT),
        _ => hook.timeout_or(DEFAULT_TIMEOUT),
    }
}

impl Going {
    /// The end of a hook that is waited for.
    async fn end(&mut self) -> End {
        let is_callback = is_callback(&self.run.hook);
        let end = tokio::select! {
            biased;
            done = &mut self.work => return self.after(done),
            Ok(answer) = &mut self.detached => return End::Detached(answer),
            () = self.stop.cancelled() => End::Stopped,
            () = self.replaced.cancelled(), if is_callback => End::Replaced,
            () = tokio::time::sleep_until(self.until) => End::TimedOut,
        };
        self.kill(end).await
    }

    /// The end of a hook in the background.
    async fn end_at_last(&mut self) -> End {
        let end = tokio::select! {
            biased;
            done = &mut self.work => return self.after(done),
            () = self.stop.cancelled() => End::Stopped,
            () = tokio::time::sleep_until(self.until) => End::TimedOut,
        };
        self.kill(end).await
    }

    /// A hook that ended because it was told to stop did not fail.
    fn after(&self, done: Done) -> End {
        if self.stop.is_cancelled() && done.exit_code.is_none() {
            End::Stopped
        } else {
            End::Done(done)
        }
    }

    /// Stops it and waits until it is gone, but not for ever.
    async fn kill(&mut self, end: End) -> End {
        self.stop.cancel();
        drop(tokio::time::timeout(KILLING, &mut self.work).await);
        end
    }
}
