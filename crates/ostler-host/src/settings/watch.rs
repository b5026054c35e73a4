//! Settings that follow their files while a session runs. Nothing is watched: when somebody
//! needs them, their files are looked at, at most a few times a second.

use std::sync::{Arc, Mutex, PoisonError};

use ostler_protocol::{Mode, RpcError};
use ostler_stdx::Clock;
use ostler_store::{Restrictions, Settings, Stamp};
use serde_json::{Map, Value};

use super::{Loaded, Place, check_mode};

/// How long a look holds, in ms.
const HOLDS_MS: i64 = 200;

/// The settings of a session, and what their files looked like when they were read.
#[derive(Debug)]
pub(crate) struct Watch {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    place: Place,
    found: Settings,
    said: Vec<String>,
    stamp: Stamp,
    looked_at: i64,
}

/// Whether a look may be spared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// If the last one is not long ago.
    Seldom,
    /// Not at all.
    Now,
}

impl Watch {
    /// Begins with what was read from this place.
    pub(crate) fn new(place: Place, clock: Arc<dyn Clock>, loaded: &Loaded) -> Self {
        // Looked at after the reading, a change in between would go unseen: the empty stamp
        // differs from every other, so the first look reads again.
        let state = State {
            place,
            found: loaded.found.clone(),
            said: loaded.warnings.clone(),
            stamp: Stamp::default(),
            looked_at: i64::MIN,
        };
        Self { clock, state: Mutex::new(state) }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The settings anew, if a file changed since; their warnings are those that were not
    /// there before.
    pub(crate) fn changed(&self, look: Look) -> Option<Loaded> {
        let mut state = self.state();
        let now = self.clock.now_ms();
        let spared = state.looked_at.saturating_add(HOLDS_MS) > now && now >= state.looked_at;
        if look == Look::Seldom && spared {
            return None;
        }
        state.looked_at = now;
        let stamp = state.place.stamp();
        if stamp == state.stamp {
            return None;
        }
        state.stamp = stamp;
        Some(state.read())
    }

    /// Takes keys of a host into the settings of the command line; gives the settings anew.
    pub(crate) fn apply(&self, keys: &Map<String, Value>) -> Result<Loaded, RpcError> {
        let mut state = self.state();
        state.place.apply(keys)?;
        Ok(state.read())
    }

    /// The settings as they were read last.
    pub(crate) fn settings(&self) -> Settings {
        self.state().found.clone()
    }

    /// The switches in force.
    pub(crate) fn restrictions(&self) -> Restrictions {
        self.state().found.restrictions()
    }

    /// Whether of all hooks only those of the policy run (`allowManagedHooksOnly`).
    pub(crate) fn only_policy_hooks(&self) -> bool {
        self.state().found.keys.allow_managed_hooks_only == Some(true)
    }

    /// Whether the session may be in a mode.
    pub(crate) fn check_mode(&self, mode: Mode) -> Result<(), RpcError> {
        check_mode(&self.state().found, mode)
    }
}

impl State {
    fn read(&mut self) -> Loaded {
        let mut loaded = self.place.read(Some(&self.found));
        self.found = loaded.found.clone();
        let said = std::mem::replace(&mut self.said, loaded.warnings.clone());
        loaded.warnings.retain(|warning| !said.contains(warning));
        loaded
    }
}
