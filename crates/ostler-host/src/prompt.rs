//! What every request of a session begins with: frozen at the first prompt, so that the
//! prefix stays the same byte for byte.

use ostler_stdx::{AbsPath, bound_middle};
use ostler_store::record::FrozenBlock;

/// Most bytes of instructions taken from files (ipc.md 5.2.3).
const INSTRUCTIONS_CAP: usize = 40_000;

/// Names of instruction files; the first that a folder has counts.
const INSTRUCTION_FILES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// What a door wants the system prompt to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SystemPrompt {
    /// Ostler's own, for work on code.
    #[default]
    Default,
    /// Ostler's own, with more text after it.
    Append(String),
    /// Exactly these blocks, perhaps none. Up to `stable` of them come before what may change.
    Custom {
        /// The blocks.
        blocks: Vec<String>,
        /// Blocks before the boundary; all if absent.
        stable: Option<usize>,
        /// More text after them.
        append: Option<String>,
    },
}

impl SystemPrompt {
    /// Whether it is Ostler's own, perhaps with more text.
    #[must_use]
    pub fn is_default(&self) -> bool {
        matches!(self, Self::Default | Self::Append(_))
    }
}

/// Facts about where a session works, taken once.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    pub(crate) cwd: AbsPath,
    pub(crate) git_branch: Option<String>,
    pub(crate) date: String,
    pub(crate) home_instructions: Vec<AbsPath>,
}

const IDENTITY: &str = include_str!("prompt/identity.md");

/// The system prompt of a session.
pub(crate) fn system(prompt: &SystemPrompt, around: &Surroundings) -> Vec<FrozenBlock> {
    match prompt {
        SystemPrompt::Default => default_blocks(around, None),
        SystemPrompt::Append(text) => default_blocks(around, Some(text)),
        SystemPrompt::Custom { blocks, stable, append } => {
            custom_blocks(blocks, *stable, append.as_deref())
        }
    }
}

fn default_blocks(around: &Surroundings, append: Option<&str>) -> Vec<FrozenBlock> {
    let mut blocks = vec![FrozenBlock { text: IDENTITY.trim_end().to_owned(), cache: false }];
    let mut place = format!(
        "Working folder: {}\nOperating system: {}\nDate when this session began: {}",
        around.cwd,
        std::env::consts::OS,
        around.date
    );
    match &around.git_branch {
        Some(branch) => place.push_str(&format!("\nGit branch when this session began: {branch}")),
        None => place.push_str("\nThe working folder is not a git repository."),
    }
    blocks.push(FrozenBlock { text: place, cache: false });
    if let Some(text) = append.filter(|text| !text.trim().is_empty()) {
        blocks.push(FrozenBlock { text: text.to_owned(), cache: false });
    }
    mark_last(blocks)
}

fn custom_blocks(
    blocks: &[String],
    stable: Option<usize>,
    append: Option<&str>,
) -> Vec<FrozenBlock> {
    let stable = stable.unwrap_or(blocks.len());
    let frozen = blocks
        .iter()
        .map(String::as_str)
        .enumerate()
        .chain(append.map(|text| (blocks.len(), text)))
        .filter(|(_, text)| !text.trim().is_empty())
        .map(|(at, text)| FrozenBlock { text: text.to_owned(), cache: at + 1 == stable })
        .collect::<Vec<_>>();
    if frozen.iter().any(|block| block.cache) { frozen } else { mark_last(frozen) }
}

fn mark_last(mut blocks: Vec<FrozenBlock>) -> Vec<FrozenBlock> {
    if let Some(last) = blocks.last_mut() {
        last.cache = true;
    }
    blocks
}

/// The instructions that files give, as the text before the first prompt: the user's,
/// then those of every folder from the project's root down to the working folder.
pub(crate) fn preamble(around: &Surroundings) -> Option<String> {
    let mut files = around.home_instructions.clone();
    files.extend(project_instructions(&around.cwd));
    let mut text = String::new();
    for file in files {
        // Not there, or not text: there are no instructions.
        let Ok(content) = std::fs::read_to_string(file.as_path()) else { continue };
        if content.trim().is_empty() {
            continue;
        }
        text.push_str(&format!("\n\nFrom {file}:\n\n{}", content.trim_end()));
    }
    if text.is_empty() {
        return None;
    }
    let text = bound_middle(&text, INSTRUCTIONS_CAP * 3 / 4, INSTRUCTIONS_CAP / 4, "").text;
    Some(format!(
        "<system-reminder>\nInstructions of the user and the project:{text}\n</system-reminder>"
    ))
}

/// Instruction files from the root of the repository down to `cwd`.
fn project_instructions(cwd: &AbsPath) -> Vec<AbsPath> {
    let mut folders = vec![cwd.clone()];
    while let Some(last) = folders.last() {
        if last.join(".git").as_path().exists() {
            break;
        }
        match last.parent() {
            Some(parent) => folders.push(parent),
            None => {
                // No repository: only the folder itself counts.
                folders.truncate(1);
                break;
            }
        }
    }
    folders
        .into_iter()
        .rev()
        .filter_map(|folder| {
            INSTRUCTION_FILES
                .iter()
                .map(|name| folder.join(name))
                .find(|file| file.as_path().is_file())
        })
        .collect()
}
