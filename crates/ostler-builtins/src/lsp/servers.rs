//! The servers of a session: at most one for each language and root, started at first
//! use, started again after a crash but not for ever.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use ostler_stdx::AbsPath;
use ostler_tool::{ToolCx, ToolError};

use crate::{
    disk::Place,
    files::cannot,
    hands::Hands,
    lsp::{client::Client, languages::Language},
};

/// Servers that run at once; for another one that was not used for longest is ended.
const RUNNING: usize = 4;
/// Crashes after which a server is not started again.
const CRASHES: u32 = 3;

/// The servers that were started.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    slots: Mutex<HashMap<(&'static str, AbsPath), Arc<Slot>>>,
    uses: AtomicU64,
}

#[derive(Debug, Default)]
struct Slot {
    /// Whether a server was started here, which then was allowed.
    started: AtomicBool,
    used: AtomicU64,
    state: tokio::sync::Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    client: Option<Arc<Client>>,
    crashes: u32,
}

impl Servers {
    /// The root of a server of this language that was started and that has this path in
    /// its project.
    pub(crate) fn started(&self, language: &Language, path: &AbsPath) -> Option<AbsPath> {
        let slots = self.slots();
        let fits = slots.iter().filter(|((name, root), slot)| {
            *name == language.name && path.is_within(root) && slot.started.load(Ordering::Relaxed)
        });
        // The innermost, so that the choice does not depend on the order.
        fits.map(|((_, root), _)| root).max_by_key(|root| root.as_os_str().len()).cloned()
    }

    /// A server that runs.
    pub(crate) async fn get(
        &self,
        language: &'static Language,
        root: &AbsPath,
        hands: &Hands,
        cx: &ToolCx,
    ) -> Result<Arc<Client>, ToolError> {
        let slot = Arc::clone(self.slots().entry((language.name, root.clone())).or_default());
        slot.used.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let mut state = slot.state.lock().await;
        match state.client.as_ref().map(|client| (Arc::clone(client), client.ended())) {
            Some((client, None)) => return Ok(client),
            Some((client, Some((why, of_itself)))) => {
                state.client = None;
                state.crashes += u32::from(of_itself);
                if state.crashes >= CRASHES {
                    return Err(ToolError::Tell(format!(
                        "{} ended {CRASHES} times in this session and is not started again: {why}; use Grep and Read",
                        client.name
                    )));
                }
            }
            None if state.crashes >= CRASHES => {
                return Err(ToolError::Tell(format!(
                    "the language server for {} ended {CRASHES} times in this session and is not started again; use Grep and Read",
                    language.name
                )));
            }
            None => {}
        }
        let commands = language.commands(&hands.env);
        if commands.is_empty() {
            return Err(ToolError::Tell(format!(
                "no language server for {} was found: {}",
                language.name,
                language.advice()
            )));
        }
        self.make_room(&slot);
        let real = Place::resolve(root).map_err(|error| cannot("search", root, &error))?;
        let mut failed = Vec::new();
        for line in commands {
            let name = line.first().map(|name| name.to_string_lossy().into_owned());
            let name = name.unwrap_or_default();
            cx.progress.report(0, &format!("starting {name}"));
            match Client::start(&line, &real, hands).await {
                Ok(client) => {
                    let client = Arc::new(client);
                    slot.started.store(true, Ordering::Relaxed);
                    state.client = Some(Arc::clone(&client));
                    return Ok(client);
                }
                Err(failure) => failed.push(format!("`{name}` could not be started: {failure}")),
            }
        }
        state.crashes += 1;
        Err(ToolError::Tell(format!("{}; {}", failed.join("; "), language.advice())))
    }

    /// A server that did not answer in time is ended, so that the next call gets another.
    pub(crate) async fn give_up(&self, language: &Language, root: &AbsPath) {
        let slot = self.slots().get(&(language.name, root.clone())).cloned();
        if let Some(slot) = slot {
            let mut state = slot.state.lock().await;
            state.client = None;
            state.crashes += 1;
        }
    }

    fn make_room(&self, but: &Arc<Slot>) {
        let slots: Vec<_> = self.slots().values().cloned().collect();
        let mut running: Vec<_> = slots
            .iter()
            .filter(|slot| !Arc::ptr_eq(slot, but))
            .filter_map(|slot| {
                slot.state
                    .try_lock()
                    .ok()
                    .filter(|state| state.client.is_some())
                    .map(|state| (slot, state))
            })
            .collect();
        running.sort_by_key(|(slot, _)| slot.used.load(Ordering::Relaxed));
        let excess = (running.len() + 1).saturating_sub(RUNNING);
        for (_, state) in running.iter_mut().take(excess) {
            // Who still waits for an answer of it keeps it until then.
            state.client = None;
        }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<(&'static str, AbsPath), Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
