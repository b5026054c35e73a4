//! What a tool call is about to do: the effects on which permission is judged.

use ostler_stdx::AbsPath;

/// One effect of a tool call, stated by the tool from its final arguments.
///
/// A tool states all of them; one that cannot say says [`Access::Unknown`], which asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Reads one file or lists one folder.
    Read {
        /// What is read, links not yet resolved.
        path: AbsPath,
    },
    /// Reads whatever lies below a folder (Glob, Grep).
    Search {
        /// The folder or file searched.
        root: AbsPath,
    },
    /// Creates or changes one file.
    Write {
        /// What is written, links not yet resolved.
        path: AbsPath,
    },
    /// Runs a script in a shell; its own effects are found by parsing it.
    Shell {
        /// The script, byte for byte what will run.
        command: String,
        /// The folder it starts in.
        cwd: AbsPath,
    },
    /// Reaches out to a host.
    Network {
        /// The whole address, or the query of a search.
        url: String,
        /// The host, empty if there is none.
        host: String,
    },
    /// Calls a tool of an MCP server.
    Mcp {
        /// The server's name.
        server: String,
        /// The server's own claim that the call only reads.
        read_only_hint: bool,
    },
    /// Changes only the conversation's own state (todo lists, questions, plans).
    Nothing,
    /// Anything else; not understood, so it asks.
    Unknown,
}
