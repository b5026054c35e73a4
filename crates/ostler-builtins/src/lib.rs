//! The tools that Ostler ships: one file and one `.md` (the text that the model reads)
//! each. They know nothing of sessions' logs, hooks, or of who asks.

mod apply_patch;
mod args;
mod ask_user_question;
mod bash;
mod diff;
mod disk;
mod edit;
mod enter_plan_mode;
mod enter_worktree;
mod exit_plan_mode;
mod exit_worktree;
mod files;
mod git;
mod glob;
mod grep;
mod hands;
mod ls;
mod lsp;
mod monitor;
mod multi_edit;
mod notebook_edit;
mod output;
mod pdf;
mod plain;
mod planned;
mod read;
mod search;
mod shelter;
mod skill;
mod task_create;
mod task_get;
mod task_list;
mod task_output;
mod task_stop;
mod task_update;
mod tasks;
#[cfg(test)]
mod tests;
mod text;
mod todo_write;
mod web;
mod web_fetch;
mod web_search;
mod worktree;
mod write;

use ostler_tool::{DuplicateTool, Registry, erase};

pub use apply_patch::fuzz_patch;
pub use edit::fuzz::fuzz_edit;
pub use hands::{Gate, Hands, Limits};
pub use lsp::fuzz_lsp_frames;
pub use notebook_edit::fuzz::fuzz_notebook;
pub use pdf::{fuzz_pdf, pdf_main};
pub use shelter::Shelter;
pub use tasks::{Tasks, tasks_of};
pub use text::fuzz_encoding;
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
    registry.add(erase(todo_write::TodoWrite))?;
    registry.add(erase(task_create::TaskCreate))?;
    registry.add(erase(task_get::TaskGet))?;
    registry.add(erase(task_list::TaskList(hands.limits.clone())))?;
    registry.add(erase(task_update::TaskUpdate))?;
    registry.add(erase(ask_user_question::AskUserQuestion))?;
    registry.add(erase(enter_plan_mode::EnterPlanMode))?;
    registry.add(erase(exit_plan_mode::ExitPlanMode))?;
    registry.add(erase(output::Output(hands.limits.clone())))?;
    registry.add(erase(skill::Skill(hands.clone())))?;
    registry.add(erase(enter_worktree::EnterWorktree(hands.clone())))?;
    registry.add(erase(exit_worktree::ExitWorktree(hands.clone())))?;
    registry.add(erase(read::Read(hands.clone())))?;
    registry.add(erase(bash::Bash(hands.clone())))?;
    registry.add(erase(task_output::TaskOutput(hands.clone())))?;
    registry.add(erase(task_stop::TaskStop))?;
    registry.add(erase(monitor::Monitor(hands.clone())))?;
    registry.add(erase(glob::Glob(hands.clone())))?;
    registry.add(erase(grep::Grep(hands.clone())))?;
    registry.add(erase(ls::Ls(hands.clone())))?;
    registry.add(erase(lsp::Lsp::new(hands.clone())))?;
    registry.add(erase(edit::Edit(hands.clone())))?;
    registry.add(erase(apply_patch::ApplyPatch(hands.clone())))?;
    registry.add(erase(multi_edit::MultiEdit(hands.clone())))?;
    registry.add(erase(notebook_edit::NotebookEdit(hands.clone())))?;
    registry.add(erase(write::Write(hands)))
}
