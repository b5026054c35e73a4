//! LSP: what a language server knows about code. Servers are started when they are first
//! asked, one for each language and project root, and live as long as the session. Writes
//! nothing and takes no edits; says before it would start one, as that may run code of
//! the project.

mod answers;
mod client;
mod documents;
mod frames;
mod languages;
mod operations;
mod position;
mod servers;

use std::sync::Arc;

use ostler_protocol::Access;
use ostler_stdx::AbsPath;
use ostler_tool::{Concurrency, Tool, ToolCx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

pub use self::frames::fuzz_lsp_frames;
use crate::{
    args::{absolute, number},
    hands::Hands,
    lsp::{languages::Language, operations::Call, servers::Servers},
};

/// Asks language servers.
#[derive(Debug)]
pub(crate) struct Lsp {
    hands: Hands,
    servers: Arc<Servers>,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Operation {
    /// What a file declares.
    DocumentSymbol,
    /// Declarations of the project by name.
    WorkspaceSymbol,
    /// Errors and warnings of a file.
    Diagnostics,
    /// Type and documentation of what stands at a place.
    Hover,
    /// Where what stands at a place is defined.
    Definition,
    /// Where what stands at a place is used.
    References,
}

/// Arguments of LSP.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// What is asked.
    operation: Operation,
    /// The source file. For workspaceSymbol any file of the language that is meant.
    #[serde(default, rename = "filePath", alias = "file_path", alias = "path")]
    file_path: Option<String>,
    /// The line of the position, from 1.
    #[serde(default, deserialize_with = "number")]
    line: Option<u64>,
    /// The character of the position in its line, from 1.
    #[serde(default, deserialize_with = "number")]
    character: Option<u64>,
    /// The name to look for; with `line` and without `character`, where it stands on
    /// that line is the position.
    #[serde(default)]
    query: Option<String>,
}

impl Lsp {
    pub(crate) fn new(hands: Hands) -> Self {
        Self { hands, servers: Arc::default() }
    }

    fn file(&self, args: &Args, cwd: &AbsPath) -> Option<AbsPath> {
        args.file_path.as_deref().map(|path| absolute(path, cwd, self.hands.home.as_ref()))
    }

    /// Whether a server answers that was started, and so allowed, before.
    fn is_started(&self, file: Option<&AbsPath>, cwd: &AbsPath) -> bool {
        match file {
            // Without a language there is only an error to give.
            Some(file) => Language::of(file)
                .is_none_or(|(language, _)| self.servers.started(language, file).is_some()),
            None => languages::LANGUAGES.iter().any(|one| self.servers.started(one, cwd).is_some()),
        }
    }
}

impl Tool for Lsp {
    const NAME: &'static str = "LSP";
    type Args = Args;

    fn description(&self) -> &str {
        include_str!("lsp.md")
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Reader
    }

    fn access(&self, args: &Args, cwd: &AbsPath) -> Vec<Access> {
        let file = self.file(args, cwd);
        let mut access = match (&file, args.operation) {
            (Some(path), operation) if operation != Operation::WorkspaceSymbol => {
                vec![Access::Read { path: path.clone() }]
            }
            _ => vec![Access::Search { root: cwd.clone() }],
        };
        // A server may run build scripts and plugins of the project when it starts.
        if !self.is_started(file.as_ref(), cwd) {
            access.push(Access::Unknown);
        }
        access
    }

    fn title(&self, args: &Args) -> String {
        let what = match args.operation {
            Operation::DocumentSymbol => "documentSymbol",
            Operation::WorkspaceSymbol => "workspaceSymbol",
            Operation::Diagnostics => "diagnostics",
            Operation::Hover => "hover",
            Operation::Definition => "definition",
            Operation::References => "references",
        };
        let mut title = format!("LSP {what}");
        for part in [&args.query, &args.file_path].into_iter().flatten() {
            title.push(' ');
            title.push_str(part);
        }
        if let Some(line) = args.line {
            title.push_str(&format!(":{line}"));
        }
        title
    }

    async fn run(&self, args: Args, cx: ToolCx) -> Result<ToolOutput, ToolError> {
        let file = self.file(&args, &cx.cwd);
        let call = Call { args, file, hands: &self.hands, servers: &self.servers, cx: &cx };
        tokio::select! {
            biased;
            // What is dropped by this tells its server that nobody waits any more.
            () = cx.cancel.cancelled() => Err(ToolError::Cancelled),
            done = call.run() => done,
        }
    }
}

/// The path of an address. Servers spell addresses in different ways, so paths are what is
/// compared.
fn path_of(uri: &str) -> Option<AbsPath> {
    let url = url::Url::parse(uri).ok().filter(|url| url.scheme() == "file")?;
    AbsPath::new(url.to_file_path().ok()?).ok()
}

/// The address of a file as servers write it.
fn uri(path: &AbsPath) -> String {
    url::Url::from_file_path(path.as_path()).map_or_else(|()| String::new(), String::from)
}
