//! One hook as it will run. Only data: reading it from settings is `config`'s business,
//! running it `engine`'s.

use std::time::Duration;

use crate::{Event, Matcher};

/// How long a hook may run unless it says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a hook may run at most, whatever it says.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(3600);

/// A hook.
#[derive(Debug, Clone)]
pub struct Hook {
    /// When it runs.
    pub event: Event,
    /// What people read: its `name`, or `<Event>-<index>`.
    pub name: String,
    /// Which subjects it is for.
    pub matcher: Matcher,
    /// What it does.
    pub action: Action,
    /// A permission rule that the call must fit (`if`).
    pub filter: Option<String>,
    /// How long it may run, if it says so.
    pub timeout: Option<Duration>,
    /// Whether it runs once in a session.
    pub once: bool,
    /// Whether nothing waits for it (`async`).
    pub in_background: bool,
    /// Whether a background hook that blocks wakes the model (`asyncRewake`).
    pub wakes: bool,
    /// Whether a failure of the hook itself blocks (`onFailure: "block"`).
    pub blocks_on_failure: bool,
    /// What is shown while it runs.
    pub status: Option<String>,
    /// The file that it comes from, or who registered it.
    pub from: String,
}

impl Hook {
    /// How long it may run; `usual` unless it says otherwise.
    #[must_use]
    pub fn timeout_or(&self, usual: Duration) -> Duration {
        self.timeout.unwrap_or(usual).min(MAX_TIMEOUT)
    }
}

/// What a hook does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Runs a command.
    Command(CommandAction),
    /// Posts the input to an address.
    Http(HttpAction),
    /// Asks a model.
    Prompt {
        /// The question; `$ARGUMENTS` stands for the input.
        prompt: String,
        /// The model; the session's own if absent.
        model: Option<String>,
    },
    /// Calls back whoever registered it.
    Callback {
        /// Its id there.
        id: String,
    },
    /// A kind that is accepted and that this version cannot run: `agent`, `mcp_tool`.
    Unavailable {
        /// The kind.
        kind: String,
    },
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandAction {
    /// A line for the shell or, with `args`, a program.
    pub command: String,
    /// The program's arguments, without a shell in between.
    pub args: Option<Vec<String>>,
    /// The shell.
    pub shell: Shell,
    /// Variables of its own; not searched for credentials, its author chose them.
    pub env: Vec<(String, String)>,
}

/// The shell of a command line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shell {
    /// `bash`, or `sh` where there is none.
    #[default]
    Bash,
    /// `pwsh`.
    PowerShell,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpAction {
    /// `http` or `https`.
    pub url: String,
    /// Headers; `$NAME` and `${NAME}` stand for variables of [`HttpAction::variables`].
    pub headers: Vec<(String, String)>,
    /// Variables that headers may use (`allowedEnvVars`).
    pub variables: Vec<String>,
}
