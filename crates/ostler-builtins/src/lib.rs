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
mod write;

use ostler_tool::{DuplicateTool, Registry, erase};

pub use edit::fuzz::fuzz_edit;
pub use hands::{Gate, Hands, Limits};
pub use tasks::{Tasks, tasks_of};

/// Adds all tools.
///
/// # Errors
/// [`DuplicateTool`] if the registry has one of their names already.
pub fn register(registry: &mut Registry, hands: Hands) -> Result<(), DuplicateTool> {
    registry.add(erase(read::Read(hands.clone())))?;
    registry.add(erase(bash::Bash(hands.clone())))?;
    registry.add(erase(task_output::TaskOutput(hands.clone())))?;
    registry.add(erase(task_stop::TaskStop))?;
    registry.add(erase(monitor::Monitor(hands.clone())))?;
    registry.add(erase(glob::Glob(hands.clone())))?;
    registry.add(erase(grep::Grep(hands.clone())))?;
    registry.add(erase(edit::Edit(hands.clone())))?;
    registry.add(erase(write::Write(hands)))
}
