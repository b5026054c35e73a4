//! Tests through the registry, as the agent calls the tools, on real files and shells.

mod attack;
pub(crate) mod bench;
mod contract;
mod documentation;
mod file_tools;
mod kept;
mod ls;
mod lsp;
mod room;
mod search_tools;
mod shell;
mod sheltered;
mod site;
mod skills;
mod state_tools;
mod tasks;
mod web;
mod worktrees;
