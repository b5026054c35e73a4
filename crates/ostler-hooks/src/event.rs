//! The moments at which hooks run: their names, what their matcher is compared with, and
//! which of them this version of Ostler raises. Only a table; nothing runs here.

/// Declares the events once: variant, subject of the matcher, and whether it is raised.
macro_rules! events {
    ($($name:ident($subject:expr, $raised:literal): $doc:literal,)*) => {
        /// A moment at which hooks may run.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Event {
            $(#[doc = $doc] $name,)*
        }

        impl Event {
            /// All events, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its name in settings and inputs.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }

            /// What the matcher is compared with; `None` if a matcher has no effect.
            #[must_use]
            pub const fn subject(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => $subject,)*
                }
            }

            /// Whether this version ever raises it.
            #[must_use]
            pub const fn is_raised(self) -> bool {
                match self {
                    $(Self::$name => $raised,)*
                }
            }

            /// One line on when it is raised.
            #[must_use]
            pub const fn when(self) -> &'static str {
                match self {
                    $(Self::$name => $doc,)*
                }
            }
        }
    };
}

events! {
    SessionStart(Some("source"), true): "A session begins or is loaded again.",
    UserPromptSubmit(None, true): "The person sent a message, before the model sees it.",
    TurnStart(None, true): "A turn begins, after its message was let through.",
    PreToolUse(Some("tool name"), true): "The model made a call, before anything judged it.",
    PermissionRequest(Some("tool name"), true): "A call would ask the person.",
    PermissionDenied(Some("tool name"), true): "A call was refused without asking.",
    PostToolUse(Some("tool name"), true): "A call succeeded.",
    PostToolUseFailure(Some("tool name"), true): "A call failed.",
    PostToolBatch(None, true): "All calls of one answer have their results.",
    Notification(Some("notification type"), true): "The person should look at the session.",
    Stop(None, true): "The model has no more to do.",
    StopFailure(None, true): "A turn ended because of a failure.",
    TurnEnd(None, true): "A turn ended, for whatever reason.",
    CwdChanged(None, true): "Tools work in another folder from here on.",
    TaskCreated(None, true): "A planned task was added.",
    TaskCompleted(None, true): "A planned task was completed.",
    PostModelSwitch(None, true): "Another model answers from here on.",
    SessionEnd(Some("reason"), true): "A session ends.",
    UserPromptExpansion(Some("command"), false): "A slash command became a prompt.",
    SubagentStart(Some("agent type"), false): "A subagent begins.",
    SubagentStop(Some("agent type"), false): "A subagent has no more to do.",
    PreCompact(Some("trigger"), false): "A conversation is about to be summarised.",
    PostCompact(Some("trigger"), false): "A conversation was summarised.",
    Elicitation(Some("server"), false): "A server asks the person something.",
    ElicitationResult(Some("server"), false): "The person answered a server.",
    Setup(Some("trigger"), false): "A project is set up.",
    TeammateIdle(None, false): "A teammate has no more to do.",
    ConfigChange(Some("source"), false): "Settings changed.",
    WorktreeCreate(None, false): "A worktree is wanted.",
    WorktreeRemove(None, false): "A worktree is no longer wanted.",
    PreModelSwitch(None, false): "Another model is about to answer.",
    InstructionsLoaded(None, false): "Instruction files were read.",
    FileChanged(None, false): "A watched file changed.",
    DirectoryAdded(None, false): "A folder counts as inside from here on.",
    MessageDisplay(None, false): "A message is about to be shown.",
    PreSkillShellCommand(None, false): "A skill is about to run a command.",
}

impl Event {
    /// The event of a name, exactly as it is written in settings.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|event| event.name() == name)
    }

    /// Whether a hook can stand in the way of what the event is about: exit code 2 and
    /// `decision: "block"` have an effect beyond a report.
    #[must_use]
    pub const fn can_block(self) -> bool {
        matches!(
            self,
            Self::UserPromptSubmit
                | Self::PreToolUse
                | Self::PermissionRequest
                | Self::PostToolUse
                | Self::PostToolBatch
                | Self::Stop
        )
    }

    /// Whether plain words on standard output are context for the model.
    #[must_use]
    pub const fn plain_text_is_context(self) -> bool {
        matches!(self, Self::UserPromptSubmit | Self::SessionStart | Self::TurnStart)
    }
}

#[cfg(test)]
mod page;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_name_is_there_once_and_leads_back() {
        let names: HashSet<_> = Event::ALL.iter().map(|event| event.name()).collect();
        assert_eq!(names.len(), Event::ALL.len());
        for event in Event::ALL {
            assert_eq!(Event::parse(event.name()), Some(*event));
        }
        for stranger in ["", "pretooluse", "PreToolUse ", "Everything"] {
            assert_eq!(Event::parse(stranger), None, "{stranger:?}");
        }
    }

    #[test]
    fn what_can_block_is_raised() {
        assert!(Event::ALL.iter().filter(|event| event.can_block()).all(|event| event.is_raised()));
    }
}
