//! Runs the tools of a session with what must happen around them: before a call changes
//! files they are kept, and what it changed is written beside its result.
//!
//! Calls that are known to change nothing cost nothing here. A command that goes on in the
//! background is covered by the picture of the next call that changes something.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::BoxFuture;
use ostler_core::{Ran, Runner};
use ostler_protocol::Access;
use ostler_stdx::{AbsPath, Cancel};
use ostler_store::{Before, Checkpoints, record::Own};
use ostler_tool::{AnyTool, ShellFolder, ToolCx};
use serde_json::{Map, Value};

/// Calls that change nothing, by id: the gate finds out, the runner asks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Harmless(Arc<Mutex<HashSet<String>>>);

impl Harmless {
    /// The call is known to change nothing.
    pub(crate) fn note(&self, call_id: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(call_id.to_owned());
    }

    fn take(&self, call_id: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(call_id)
    }
}

/// Keeps what calls change.
#[derive(Debug)]
pub(crate) struct Keeping {
    checkpoints: Arc<Checkpoints>,
    harmless: Harmless,
}

impl Keeping {
    pub(crate) fn new(checkpoints: Arc<Checkpoints>, harmless: Harmless) -> Self {
        Self { checkpoints, harmless }
    }
}

/// What a call may change.
#[derive(Debug)]
enum Reach {
    Nothing,
    Files(Vec<AbsPath>),
    Tree(AbsPath),
}

/// The folder in which a tool's relative paths start.
pub(crate) fn folder_of(tool: &str, cx: &ToolCx) -> AbsPath {
    match tool {
        // A shell goes on where its last command left it; other tools stay in the project.
        "Bash" | "Monitor" => cx.state.get::<ShellFolder>().or(&cx.cwd),
        _ => cx.cwd.clone(),
    }
}

fn reach(tool: &dyn AnyTool, args: &Map<String, Value>, cx: &ToolCx) -> Reach {
    // Arguments that do not fit change nothing: the tool refuses them.
    let accesses = tool.access(args, &folder_of(tool.name(), cx)).unwrap_or_default();
    let mut files = Vec::new();
    for access in accesses {
        match access {
            Access::Write { path } => files.push(path),
            Access::Shell { .. } | Access::Mcp { .. } | Access::Unknown => {
                return Reach::Tree(cx.cwd.clone());
            }
            Access::Read { .. }
            | Access::Search { .. }
            | Access::Network { .. }
            | Access::Nothing => {}
        }
    }
    if files.is_empty() { Reach::Nothing } else { Reach::Files(files) }
}

impl Runner for Keeping {
    fn run(
        &self,
        tool: Arc<dyn AnyTool>,
        args: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Ran> {
        let reach = if self.harmless.take(&cx.call_id) {
            Reach::Nothing
        } else {
            reach(&*tool, &args, &cx)
        };
        let checkpoints = Arc::clone(&self.checkpoints);
        Box::pin(async move {
            let call_id = cx.call_id.clone();
            let Some(before) = before(&checkpoints, reach, &cx.cancel).await else {
                return tool.run(args, cx).await.into();
            };
            let result = tool.run(args, cx).await;
            let records = after(checkpoints, before, call_id).await;
            Ran { records, ..result.into() }
        })
    }
}

async fn before(checkpoints: &Arc<Checkpoints>, reach: Reach, cancel: &Cancel) -> Option<Before> {
    let (checkpoints, cancel) = (Arc::clone(checkpoints), cancel.clone());
    let look = move || match reach {
        Reach::Nothing => None,
        Reach::Files(files) => Some(checkpoints.before_files(&files, &cancel)),
        Reach::Tree(root) => Some(checkpoints.before_tree(&root, &cancel)),
    };
    // A checkpoint is never the reason why a call fails.
    tokio::task::spawn_blocking(look).await.ok().flatten()
}

/// What changed, as a record; a call that was interrupted changed files too.
async fn after(checkpoints: Arc<Checkpoints>, before: Before, call_id: String) -> Vec<Own> {
    let look = move || {
        let manifest = checkpoints.after(before, &Cancel::new());
        (!manifest.files.is_empty())
            .then(|| Own::Checkpoint(checkpoints.record(call_id, Vec::new(), manifest)))
    };
    tokio::task::spawn_blocking(look).await.ok().flatten().into_iter().collect()
}
