//! Signals to everything below a process, wherever it went: other groups, other
//! sessions, orphans. Runs in the supervisor and its keepers only, whose groups and
//! sessions hold nobody else, so that no signal reaches a process outside the tree.

use std::{collections::BTreeSet, time::Duration, time::Instant};

use nix::{
    sys::signal::{Signal, kill, killpg},
    unistd::{Pid, getpgid, getpgrp},
};

use crate::platform;

/// All descendants of `root` that can be found now, parents before children.
pub(crate) fn descendants(root: Pid) -> Vec<Pid> {
    let mut seen = BTreeSet::from([root]);
    let mut found = platform::children(root);
    found.retain(|pid| seen.insert(*pid));
    let mut next = 0;
    while let Some(&pid) = found.get(next) {
        let below = platform::children(pid);
        found.extend(below.into_iter().filter(|pid| seen.insert(*pid)));
        next += 1;
    }
    found
}

/// Kills these processes at once, with their groups: a group dies as one, so that a
/// process which forks all the time cannot stay ahead.
pub(crate) fn kill_now(pids: &[Pid]) {
    let own = getpgrp();
    let groups: BTreeSet<Pid> = pids.iter().filter_map(|pid| getpgid(Some(*pid)).ok()).collect();
    for group in groups {
        if group != own && group.as_raw() > 1 {
            let _ = killpg(group, Signal::SIGKILL);
        }
    }
    for pid in pids {
        let _ = kill(*pid, Signal::SIGKILL);
    }
}

/// The end of a tree: TERM once to each process, KILL to all that is left after the
/// grace, again and again until nothing is left.
#[derive(Debug)]
pub(crate) struct Ending {
    kill_at: Instant,
    pause: Duration,
    killed: BTreeSet<Pid>,
}

/// Pause after a round that met new processes.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);

/// Most rounds in one go, so that a keeper still reaps and listens.
const ROUNDS: usize = 64;

/// Longest pause between two rounds of KILL, for what the kernel does not let go.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

impl Ending {
    /// Asks every descendant of this process, and the group of `main`, to end.
    pub(crate) fn begin(main: Option<Pid>, grace: Duration) -> Self {
        for pid in descendants(Pid::this()) {
            let _ = kill(pid, Signal::SIGTERM);
            // A stopped process acts on TERM only when it goes on.
            let _ = kill(pid, Signal::SIGCONT);
        }
        if let (false, Some(main)) = (platform::ADOPTS_ORPHANS, main) {
            let _ = killpg(main, Signal::SIGTERM);
        }
        let kill_at = Instant::now() + grace;
        Self { kill_at, pause: SHORTEST_PAUSE, killed: BTreeSet::new() }
    }

    /// Shortens the grace; never lengthens it.
    pub(crate) fn hurry(&mut self, grace: Duration) {
        self.kill_at = self.kill_at.min(Instant::now() + grace);
    }

    /// Does what is due and says when to come again.
    pub(crate) fn step(&mut self, main: Option<Pid>) -> Duration {
        let left = self.kill_at.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            return left;
        }
        // What forks while it is being killed is met again at once: only a round without
        // anything new may be followed by a pause.
        let mut met_new = true;
        for _ in 0..ROUNDS {
            let found = descendants(Pid::this());
            kill_now(&found);
            let before = self.killed.len();
            self.killed.extend(found);
            met_new = self.killed.len() > before;
            if !met_new {
                break;
            }
        }
        if let (false, Some(main)) = (platform::ADOPTS_ORPHANS, main) {
            let _ = killpg(main, Signal::SIGKILL);
        }
        self.pause = if met_new { SHORTEST_PAUSE } else { (self.pause * 2).min(LONGEST_PAUSE) };
        self.pause
    }
}
