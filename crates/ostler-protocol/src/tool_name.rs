//! The names of tools: one canonical name for each, and the older ones that rules, models and
//! hosts still use (agent-sdk.md 5.3, ipc.md 5.11).

/// Canonical names by which a tool is known, and the older names of each.
const TOOLS: &[(&str, &[&str])] = &[
    ("Agent", &["Task"]),
    ("ApplyPatch", &[]),
    ("AskUserQuestion", &["Question"]),
    ("Bash", &["Shell"]),
    ("Edit", &[]),
    ("EnterPlanMode", &[]),
    ("EnterWorktree", &[]),
    ("ExitPlanMode", &[]),
    ("ExitWorktree", &[]),
    ("Glob", &[]),
    ("Grep", &[]),
    ("LS", &["List"]),
    ("LSP", &[]),
    ("ListAgents", &["ListPeers"]),
    ("ListMcpResourcesTool", &["ListMcpResources"]),
    ("Memory", &[]),
    ("Monitor", &[]),
    ("MultiEdit", &[]),
    ("NotebookEdit", &[]),
    ("NotebookRead", &[]),
    ("Output", &[]),
    ("Read", &[]),
    ("ReadMcpResourceDirTool", &["ReadMcpResourceDir"]),
    ("ReadMcpResourceTool", &["ReadMcpResource"]),
    ("SendUserMessage", &["Brief"]),
    ("SetGoal", &["ProposeGoal"]),
    ("Skill", &[]),
    ("TaskCreate", &[]),
    ("TaskGet", &[]),
    ("TaskList", &[]),
    ("TaskOutput", &["BashOutput"]),
    ("TaskStop", &["KillShell", "KillBash"]),
    ("TaskUpdate", &[]),
    ("TodoWrite", &[]),
    ("ToolSearch", &[]),
    ("WebFetch", &[]),
    ("WebSearch", &[]),
    ("Write", &[]),
];

/// The name under which rules, events and transcripts know a tool.
///
/// Case is forgiven and old names are replaced; a name that is not known stays as it is.
#[must_use]
pub fn canonical_tool(name: &str) -> &str {
    for (canonical, old) in TOOLS {
        if canonical.eq_ignore_ascii_case(name)
            || old.iter().any(|other| other.eq_ignore_ascii_case(name))
        {
            return canonical;
        }
    }
    name
}
