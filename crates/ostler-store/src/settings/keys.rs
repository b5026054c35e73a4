//! The keys of a settings file as types: their names, shapes and meaning. The schema, the
//! page `docs/settings.md` and the check of every file derive from these types. Who may set
//! a key stands in `table.rs`. Nothing here reads a file.

use std::collections::BTreeMap;

use ostler_protocol::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Settings of Ostler. A file may hold any of these keys; others are kept and ignored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(title = "Ostler settings")]
pub struct Keys {
    /// What may happen without a question, with one, or never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<PermissionKeys>,
    /// Programs that run at events of a session: for each event a list of groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooks: Option<BTreeMap<String, Vec<HookGroup>>>,
    /// No hook of a settings file runs. Hooks of the machine's policy run on, unless it is
    /// the policy that says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_all_hooks: Option<bool>,
    /// Of all hooks only those of the machine's policy run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_managed_hooks_only: Option<bool>,
    /// Of all rules that allow only those of the machine's policy count. Rules that deny or
    /// ask count from everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_managed_permission_rules_only: Option<bool>,
    /// Of all MCP servers only those of the machine's policy are connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_managed_mcp_servers_only: Option<bool>,
    /// Variables for child processes: commands, hooks, servers. Keys of model vendors are
    /// not passed on, unless `passEnv` names them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// Names of variables that child processes get although they look like a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_env: Option<Vec<String>>,
    /// The model for new sessions: an id, an alias or `provider/id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model that is asked when the other is overloaded; a list is tried in its order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_model: Option<OneOrMore>,
    /// A command that prints the key of the model's vendor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_helper: Option<String>,
    /// The output style of new sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_style: Option<String>,
    /// The agent that a session runs as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// How commands are confined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxKeys>,
    /// How hard the model tries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort_level: Option<EffortLevel>,
    /// The model reasons before it answers, if it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub always_thinking_enabled: Option<bool>,
    /// Servers of the project's `.mcp.json` that are connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled_mcpjson_servers: Option<Vec<String>>,
    /// Servers of the project's `.mcp.json` that are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_mcpjson_servers: Option<Vec<String>>,
    /// All servers of the project's `.mcp.json` are connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_all_project_mcp_servers: Option<bool>,
    /// Sessions that were not used for so many days are deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cleanup_period_days: Option<u32>,
    /// A conversation is shortened before it fills the model's window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_compact_enabled: Option<bool>,
    /// Globs of instruction files that are not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claude_md_excludes: Option<Vec<String>>,
    /// Skills by name, and how they are offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_overrides: Option<BTreeMap<String, Value>>,
    /// Plugins by name, and whether they are on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled_plugins: Option<BTreeMap<String, Value>>,
    /// Files are kept before a call changes them, so that it can be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_checkpointing_enabled: Option<bool>,
    /// What is remembered between sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryKeys>,
    /// Keys that are nobody's here: kept, and handed to whoever knows them.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// One text or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMore {
    /// One.
    One(String),
    /// Several, in their order.
    More(Vec<String>),
}

/// How hard a model tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EffortLevel {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    XHigh,
    /// All it has.
    Max,
}

/// The one word of a switch that can only be turned off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Disable {
    /// It is off.
    Disable,
}

/// `permissions`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PermissionKeys {
    /// Rules for what runs without a question, such as `Bash(git *)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// Rules for what a person is asked about, in every mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<Vec<String>>,
    /// Rules for what never runs, in every mode. One that cannot be read denies its whole tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny: Option<Vec<String>>,
    /// The mode of new sessions. `acceptEdits`, `auto` and `bypassPermissions` do not count
    /// in a project's shared file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_mode: Option<Mode>,
    /// Further folders that count as inside the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_directories: Option<Vec<String>>,
    /// No session can be in the mode `bypassPermissions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_bypass_permissions_mode: Option<Disable>,
    /// No session can be in the mode `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_auto_mode: Option<Disable>,
    /// What would be asked is denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny_instead_of_prompting: Option<bool>,
    /// What lies outside the project and the additional folders is not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_reads_outside_working_directories: Option<bool>,
    /// What lies outside the project and the additional folders is not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_writes_outside_working_directories: Option<bool>,
    /// Keys that are nobody's here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Hooks of an event: those of a matcher, or one that stands here itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HookGroup {
    /// Which tools or values it is for; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// The hooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Vec<Hook>>,
    /// The one hook of a group without `hooks`.
    #[serde(flatten)]
    pub one: Hook,
}

/// One hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Hook {
    /// `command`, `prompt`, `agent`, `http` or `mcp_tool`; `command` if absent.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Seconds after which it is stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// A permission rule that the call must match.
    #[serde(rename = "if", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// It runs once in a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub once: Option<bool>,
    /// What its type asks for besides.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// `memory`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MemoryKeys {
    /// What is worth remembering is taken from conversations by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_extract: Option<bool>,
    /// After how many runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extract_every_n_runs: Option<u32>,
    /// Keys that are nobody's here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// `sandbox`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SandboxKeys {
    /// Commands run confined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Where they cannot be confined, no session starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_if_unavailable: Option<bool>,
    /// Confined commands run without a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_allow_bash_if_sandboxed: Option<bool>,
    /// Commands that always run outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excluded_commands: Option<Vec<String>>,
    /// A call may ask to run outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_unsandboxed_commands: Option<bool>,
    /// What commands reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkKeys>,
    /// What they read and write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<FilesystemKeys>,
    /// What is hidden from them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<CredentialKeys>,
    /// No effect, said at the start: a refusal is seen by the command alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_violations: Option<BTreeMap<String, Vec<String>>>,
    /// Inside a container: go without a `/proc` of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_weaker_nested_sandbox: Option<bool>,
    /// Commands may make user namespaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_nested_user_namespaces: Option<bool>,
    /// No effect, said at the start: `ostler doctor` tells where the network cannot be filtered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_weaker_network_isolation: Option<bool>,
    /// The `bwrap` program, if it is not the one on the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bwrap_path: Option<String>,
    /// Keys that are nobody's here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// `sandbox.network`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct NetworkKeys {
    /// Hosts that may be reached: exact names, or `*.name` for all below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_domains: Option<Vec<String>>,
    /// Hosts that may not; beats the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub denied_domains: Option<Vec<String>>,
    /// What is not listed is refused without a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict_allowlist: Option<bool>,
    /// Of all allowed hosts only those of the machine's policy count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_managed_domains_only: Option<bool>,
    /// Commands may listen on and connect to this machine's own addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_local_binding: Option<bool>,
    /// Sockets in the file system that may be connected to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_unix_sockets: Option<Vec<String>>,
    /// All of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_all_unix_sockets: Option<bool>,
    /// macOS: services that may be looked up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_mach_lookup: Option<Vec<String>>,
    /// No effect, said at the start: commands use Ostler's own proxy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_proxy_port: Option<u16>,
    /// No effect, said at the start: commands use Ostler's own proxy for SOCKS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socks_proxy_port: Option<u16>,
    /// Keys that are nobody's here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// `sandbox.filesystem`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FilesystemKeys {
    /// Further folders that may be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_write: Option<Vec<String>>,
    /// What may not be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny_write: Option<Vec<String>>,
    /// What may not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny_read: Option<Vec<String>>,
    /// What may be read although it lies in `denyRead`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_read: Option<Vec<String>>,
    /// Of all `allowRead` only that of the machine's policy counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_managed_read_paths_only: Option<bool>,
    /// Files are not confined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    /// Keys that are nobody's here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// `sandbox.credentials`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CredentialKeys {
    /// Files that commands do not see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<CredentialKey>>,
    /// Variables that commands do not see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env_vars: Option<Vec<CredentialKey>>,
    /// Keys that are nobody's here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A file or variable that commands do not see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CredentialKey {
    /// Its path or name.
    Name(String),
    /// Its path or name, and how it is hidden.
    With(CredentialRow),
}

/// A hidden file or variable in full.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CredentialRow {
    /// The path of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The name of a variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `deny`: it is not there; `mask`: something else stands in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<CredentialMode>,
}

/// How a credential is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CredentialMode {
    /// It is not there.
    Deny,
    /// Something else stands in its place.
    Mask,
}
