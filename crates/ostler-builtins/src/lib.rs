//! The tools that Ostler ships: one file and one `.md` (the text that the model reads)
//! each. They know nothing of sessions' logs, hooks, or of who asks.

mod args;
mod bash;
mod diff;
mod disk;
mod edit;
mod files;
mod glob;
mod grep;
mod hands;
mod ls;
mod monitor;
mod plain;
mod read;
mod search;
mod task_output;
mod task_stop;
mod tasks;
#[cfg(test)]
mod tests;
mod text;
mod web;
mod web_fetch;
mod web_search;
mod write;

use ostler_tool::{DuplicateTool, Registry, erase};

pub use edit::fuzz::fuzz_edit;
pub use hands::{Gate, Hands, Limits};
pub use tasks::{Tasks, tasks_of};
pub use web::{Proxies, Reach, SearchEngine, WebSettings};

/// Adds all tools.
///
/// # Errors
/// [`DuplicateTool`] if the registry has one of their names already.
pub fn register(registry: &mut Registry, hands: Hands) -> Result<(), DuplicateTool> {
    let client = web::Client::new(hands.web.clone());
    let limits = hands.limits.clone();
    registry.add(erase(web_fetch::WebFetch { client: client.clone(), limits: limits.clone() }))?;
    registry.add(erase(web_search::WebSearch { client, limits }))?;
    registry.add(erase(read::Read(hands.clone())))?;
    registry.add(erase(bash::Bash(hands.clone())))?;
    registry.add(erase(task_output::TaskOutput(hands.clone())))?;
    registry.add(erase(task_stop::TaskStop))?;
    registry.add(erase(monitor::Monitor(hands.clone())))?;
    registry.add(erase(glob::Glob(hands.clone())))?;
    registry.add(erase(grep::Grep(hands.clone())))?;
    registry.add(erase(ls::Ls(hands.clone())))?;
    registry.add(erase(edit::Edit(hands.clone())))?;
    registry.add(erase(write::Write(hands)))
}
