//! Which commands run in the session's sandbox, and how they get there.

mod hidden;

use std::sync::Arc;

use ostler_sandbox::{Command, LazySandbox, SandboxSettings, Traces};
use ostler_stdx::AbsPath;
use ostler_tool::ToolError;

use hidden::Hidden;

/// The sandbox of a session, and what may go without it.
#[derive(Debug, Clone)]
pub struct Shelter {
    sandbox: Arc<LazySandbox>,
    excluded: Arc<[String]>,
    may_leave: bool,
    required: bool,
    hidden: Arc<Hidden>,
}

/// A command on its way: confined if it should be and can be.
#[derive(Debug)]
pub(crate) struct Sheltered {
    pub(crate) command: Command,
    /// A line about the confinement, for a command that failed in it.
    pub(crate) note: Option<String>,
    /// Held while the command runs.
    pub(crate) traces: Option<Traces>,
}

impl Shelter {
    /// The shelter that these settings ask for; `None` if they ask for none. What the
    /// absolute globs of `hidden` name is looked for before each command and not seen by it.
    #[must_use]
    pub fn new(
        settings: &SandboxSettings,
        sandbox: Arc<LazySandbox>,
        hidden: &[String],
    ) -> Option<Self> {
        settings.enabled.then(|| Self {
            sandbox,
            excluded: settings.excluded_commands.clone().into(),
            may_leave: settings.allows_unsandboxed(),
            required: settings.fail_if_unavailable,
            hidden: Arc::new(Hidden::new(hidden)),
        })
    }

    /// Whether a command runs inside. `leave`: the call asks to run outside.
    #[must_use]
    pub fn takes(&self, command: &str, leave: bool) -> bool {
        !self.leaves(leave) && !self.excluded.iter().any(|pattern| is_excluded(pattern, command))
    }

    /// Whether a call that asks to run outside may.
    #[must_use]
    pub fn leaves(&self, leave: bool) -> bool {
        leave && self.may_leave
    }

    /// Why a session with this shelter cannot start, if it cannot.
    ///
    /// # Errors
    /// The words that hosts look for (agent-sdk.md 5.7).
    pub async fn check(&self) -> Result<(), String> {
        match self.sandbox.get().await {
            Err(why) if self.required => Err(format!("Sandbox required but unavailable: {why}")),
            _ => Ok(()),
        }
    }

    /// Whether there is a sandbox, and its level; or why there is none.
    ///
    /// # Errors
    /// What is missing.
    pub async fn level(&self) -> Result<String, String> {
        self.sandbox
            .get()
            .await
            .map(|sandbox| sandbox.level().to_string())
            .map_err(ToString::to_string)
    }

    /// What the rules with wildcards name now.
    async fn hidden(&self) -> Vec<AbsPath> {
        if self.hidden.is_empty() {
            return Vec::new();
        }
        let hidden = Arc::clone(&self.hidden);
        tokio::task::spawn_blocking(move || hidden.find()).await.unwrap_or_default()
    }

    async fn wrap(&self, command: Command) -> Result<Sheltered, ToolError> {
        match self.sandbox.get().await {
            Ok(sandbox) => {
                let level = sandbox.level().name();
                let note = format!(
                    "[ran in the sandbox ({level}): it writes to the project and its temporary folder only, and \
                     reaches the hosts that the settings allow; with `dangerouslyDisableSandbox` the person is \
                     asked to let it run outside]"
                );
                let (command, traces) = sandbox.confine_hiding(command, &self.hidden().await);
                Ok(Sheltered { command, note: Some(note), traces: Some(traces) })
            }
            Err(why) if self.required => {
                Err(ToolError::Tell(format!("Sandbox required but unavailable: {why}")))
            }
            // The session has said so when it started.
            Err(_) => Ok(Sheltered { command, note: None, traces: None }),
        }
    }
}

/// Confines a command where the session wants it.
pub(crate) async fn shelter(
    shelter: Option<&Shelter>,
    text: &str,
    leave: bool,
    command: Command,
) -> Result<Sheltered, ToolError> {
    match shelter.filter(|shelter| shelter.takes(text, leave)) {
        Some(shelter) => shelter.wrap(command).await,
        None => Ok(Sheltered { command, note: None, traces: None }),
    }
}

/// Whether a pattern such as `docker:*` or `docker compose` names the whole of a command.
/// Of a script with more than one command none is excluded: the rest would go along.
fn is_excluded(pattern: &str, command: &str) -> bool {
    let command = command.trim();
    if command.is_empty() || command.contains(['\n', ';', '|', '&', '$', '`', '<', '>', '(', ')']) {
        return false;
    }
    let pattern = pattern.trim();
    let words = pattern.strip_suffix(":*").or(pattern.strip_suffix(" *")).unwrap_or(pattern);
    let rest = command.strip_prefix(words.trim_end()).filter(|_| !words.is_empty());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_single_commands_are_excluded() {
        let table = [
            ("docker:*", "docker ps", true),
            ("docker *", "docker ps -a", true),
            ("docker", "docker", true),
            ("docker", "dockerize", false),
            ("docker compose", "docker ps", false),
            ("docker:*", "docker ps; rm x", false),
            ("docker:*", "docker ps && rm x", false),
            ("docker:*", "docker $(rm x)", false),
            ("docker:*", "rm x", false),
            ("", "rm x", false),
            (":*", "rm x", false),
        ];
        for (pattern, command, expected) in table {
            assert_eq!(is_excluded(pattern, command), expected, "{pattern} {command}");
        }
    }
}
