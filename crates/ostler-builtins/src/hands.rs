//! What the tools are given by the host, once, for all sessions.

use std::{collections::BTreeMap, ffi::OsString, fmt, sync::Arc};

use ostler_protocol::Access;
use ostler_sandbox::Supervisor;
use ostler_stdx::AbsPath;

use crate::shelter::Shelter;
use crate::web::WebSettings;

/// Judges a path again when a tool has resolved its links and holds its folder open.
///
/// Permission was judged before the call ran; a process that runs beside may have put a
/// link into the path since. The tools ask here with [`Access::Read`] or
/// [`Access::Write`] of the resolved path, at the last moment, and refuse with the text
/// of the answer. Grep and Glob ask for each file that they would show and leave out
/// what is refused.
#[derive(Clone)]
pub struct Gate(Option<Judge>);

type Judge = Arc<dyn Fn(&Access) -> Result<(), String> + Send + Sync>;

impl Gate {
    /// A gate that asks `judge`; its error is what the model reads.
    pub fn new(judge: impl Fn(&Access) -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(judge)))
    }

    /// A gate that lets everything pass.
    #[must_use]
    pub fn open() -> Self {
        Self(None)
    }

    pub(crate) fn ask(&self, access: &Access) -> Result<(), String> {
        self.0.as_ref().map_or(Ok(()), |judge| judge(access))
    }

    /// Whether this file may be shown by a search.
    pub(crate) fn shows(&self, path: &std::path::Path) -> bool {
        let Some(judge) = &self.0 else { return true };
        AbsPath::new(path).is_ok_and(|path| judge(&Access::Read { path }).is_ok())
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Gate" } else { "Gate(open)" })
    }
}

/// Caps of the tools (ipc.md 5.11).
#[derive(Debug, Clone)]
pub struct Limits {
    /// Lines that Read shows if the call names no limit.
    pub read_lines: usize,
    /// Characters of one line that Read shows.
    pub read_line_chars: usize,
    /// Bytes of text that one Read shows.
    pub read_shown_bytes: usize,
    /// Bytes up to which Read takes a text file without `offset` or `limit`.
    pub read_file_bytes: u64,
    /// Bytes up to which a picture is read.
    pub image_bytes: u64,
    /// Bytes up to which a PDF is read.
    pub pdf_bytes: u64,
    /// Bytes up to which a file is edited.
    pub edit_file_bytes: u64,
    /// Paths that Glob shows.
    pub glob_files: usize,
    /// Entries that LS lists.
    pub ls_entries: usize,
    /// Lines or files that Grep shows if the call names no limit.
    pub grep_entries: usize,
    /// Bytes of text that Grep or Bash shows.
    pub shown_bytes: usize,
    /// How long a language server may take to start.
    pub lsp_start_ms: u64,
    /// How long a language server may take to answer.
    pub lsp_request_ms: u64,
    /// How long a search may take.
    pub search_ms: u64,
    /// How long a command may take if the call names no time.
    pub command_ms: u64,
    /// The longest time that a call may name.
    pub command_max_ms: u64,
    /// Background commands that may run at a time.
    pub tasks_running: usize,
    /// Bytes of output that are kept of one background command.
    pub task_output_bytes: usize,
    /// Bytes of a page that are fetched.
    pub fetch_bytes: u64,
    /// Seconds that a fetch or search of the web may take if the call names no time.
    pub fetch_seconds: u64,
    /// The longest time that a call may name.
    pub fetch_max_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            read_lines: 2000,
            read_line_chars: 2000,
            read_shown_bytes: 50_000,
            read_file_bytes: 10 << 20,
            image_bytes: 32 << 20,
            pdf_bytes: 32 << 20,
            edit_file_bytes: 32 << 20,
            glob_files: 100,
            ls_entries: 100,
            grep_entries: 250,
            shown_bytes: 30_000,
            lsp_start_ms: 20_000,
            lsp_request_ms: 10_000,
            search_ms: 30_000,
            command_ms: 120_000,
            command_max_ms: 600_000,
            tasks_running: 100,
            task_output_bytes: 16 << 20,
            fetch_bytes: 5 << 20,
            fetch_seconds: 30,
            fetch_max_seconds: 120,
        }
    }
}

/// What the tools need besides a call's own context.
#[derive(Debug, Clone)]
pub struct Hands {
    /// Runs the commands; starts at first use.
    pub supervisor: Supervisor,
    /// The whole environment of commands, without credentials
    /// (`ostler_sandbox::child_env`). Its `PATH` is where the shell is looked up.
    pub env: BTreeMap<OsString, OsString>,
    /// The shell, such as `bash`: a name or a full path. If it is not there, `sh` runs
    /// the commands.
    pub shell: OsString,
    /// The person's home folder, which a leading `~/` of a path means.
    pub home: Option<AbsPath>,
    /// Judges resolved paths at the last moment.
    pub gate: Gate,
    /// Folders that searches never enter: where Ostler itself writes, so that a search
    /// cannot feed on its own output.
    pub private: Vec<AbsPath>,
    /// The folder that takes the output of the session's background commands. It lies in
    /// one of the `private` folders.
    pub tasks: AbsPath,
    /// What the tools that reach into the network need.
    pub web: WebSettings,
    /// The sandbox for commands, if the session has one.
    pub shelter: Option<Shelter>,
    /// Caps.
    pub limits: Limits,
}

impl Hands {
    /// The shells to try, in order.
    pub(crate) fn shells(&self) -> [OsString; 3] {
        [self.shell.clone(), OsString::from("sh"), OsString::from("/bin/sh")]
    }
}
