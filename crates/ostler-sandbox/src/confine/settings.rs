//! `settings.sandbox` (agent-sdk.md 5.7) and what it makes of a policy.

use std::collections::{BTreeMap, BTreeSet};

use ostler_stdx::AbsPath;
use serde::{Deserialize, Serialize};

use super::policy::{Network, Policy};

/// The value in the place of a masked variable.
const MASK: &str = "masked-by-ostler";

/// `settings.sandbox`. Keys that are not known are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SandboxSettings {
    /// Commands run confined.
    pub enabled: bool,
    /// Where they cannot, the session does not start.
    pub fail_if_unavailable: bool,
    /// Confined commands run without a question.
    pub auto_allow_bash_if_sandboxed: bool,
    /// Commands that always run outside.
    pub excluded_commands: Vec<String>,
    /// Whether a call may ask to run outside; true unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_unsandboxed_commands: Option<bool>,
    /// What may be reached.
    pub network: NetworkSettings,
    /// What may be read and written.
    pub filesystem: FilesystemSettings,
    /// What is hidden.
    pub credentials: CredentialSettings,
    /// No effect, said at the start: a refusal is seen by the command alone.
    pub ignore_violations: BTreeMap<String, Vec<String>>,
    /// Inside a container: go without a `/proc` of its own.
    pub enable_weaker_nested_sandbox: bool,
    /// Commands may make user namespaces.
    pub allow_nested_user_namespaces: bool,
    /// No effect, said at the start: `ostler doctor` tells where the network cannot be filtered.
    pub enable_weaker_network_isolation: bool,
    /// The `bwrap` program, if it is not the one on the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bwrap_path: Option<String>,
    /// Taken and not needed: Ostler forwards by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socat_path: Option<String>,
}

/// `sandbox.network`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NetworkSettings {
    /// Hosts that may be reached: exact names, or `*.name` for all below.
    pub allowed_domains: Vec<String>,
    /// Hosts that may not; beats the others.
    pub denied_domains: Vec<String>,
    /// What is not listed is refused without a question.
    pub strict_allowlist: bool,
    /// Only the machine policy's list counts.
    pub allow_managed_domains_only: bool,
    /// Commands may listen on and connect to this machine's own addresses.
    pub allow_local_binding: bool,
    /// Sockets in the file system that may be connected to.
    pub allow_unix_sockets: Vec<String>,
    /// All of them.
    pub allow_all_unix_sockets: bool,
    /// macOS: services that may be looked up.
    pub allow_mach_lookup: Vec<String>,
    /// No effect, said at the start: commands use Ostler's own proxy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_proxy_port: Option<u16>,
    /// No effect, said at the start: commands use Ostler's own proxy for SOCKS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socks_proxy_port: Option<u16>,
    /// Opening TLS on the way, which Ostler never does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_terminate: Option<serde_json::Value>,
}

/// `sandbox.filesystem`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FilesystemSettings {
    /// Further folders that may be written.
    pub allow_write: Vec<String>,
    /// What may not.
    pub deny_write: Vec<String>,
    /// What may not be read.
    pub deny_read: Vec<String>,
    /// What may be read although it lies in `deny_read`.
    pub allow_read: Vec<String>,
    /// Only the machine policy's `allowRead` counts.
    pub allow_managed_read_paths_only: bool,
    /// Files are not confined.
    pub disabled: bool,
}

/// `sandbox.credentials`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CredentialSettings {
    /// Files that commands do not see.
    pub files: Vec<CredentialFile>,
    /// Variables that commands do not see.
    pub env_vars: Vec<CredentialVar>,
}

/// How a credential is kept from commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CredentialMode {
    /// It is not there.
    #[default]
    Deny,
    /// Something else stands in its place.
    Mask,
}

/// A file that commands do not see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CredentialFile {
    /// Its path.
    Path(String),
    /// Its path, and how it is kept from commands.
    With {
        /// Its path.
        path: String,
        /// How it is kept from commands.
        #[serde(default)]
        mode: CredentialMode,
    },
}

/// A variable that commands do not see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CredentialVar {
    /// Its name.
    Name(String),
    /// Its name, and how it is kept from commands.
    With {
        /// Its name.
        name: String,
        /// How it is kept from commands.
        #[serde(default)]
        mode: CredentialMode,
    },
}

/// The folders of a session, and what permission rules add.
#[derive(Debug, Clone)]
pub struct Folders {
    /// The project: writable.
    pub project: AbsPath,
    /// Further folders that count as the project's.
    pub extra: Vec<AbsPath>,
    /// The person's home, for paths that begin with `~`.
    pub home: AbsPath,
    /// The session's folder for temporary files.
    pub temp: AbsPath,
    /// Ostler's own folders: never written, and never read but for `temp`.
    pub own: Vec<AbsPath>,
    /// Paths that rules allow to edit.
    pub allow_write: Vec<AbsPath>,
    /// Paths that rules deny to edit.
    pub deny_write: Vec<AbsPath>,
    /// Paths that rules deny to read.
    pub deny_read: Vec<AbsPath>,
}

impl SandboxSettings {
    /// Whether a call may ask to run outside.
    #[must_use]
    pub fn allows_unsandboxed(&self) -> bool {
        self.allow_unsandboxed_commands.unwrap_or(true)
    }

    /// Entries of `filesystem.denyRead` and `credentials.files` with wildcards, as absolute
    /// globs: what they name is looked for before each command.
    #[must_use]
    pub fn denied_globs(&self, folders: &Folders) -> Vec<String> {
        let paths = self.denied().filter(|text| is_glob(text));
        paths.map(|text| absolute(text, folders).to_text()).collect()
    }

    fn denied(&self) -> impl Iterator<Item = &str> {
        let files = self.credentials.files.iter().map(|file| match file {
            CredentialFile::Path(path) | CredentialFile::With { path, .. } => path,
        });
        self.filesystem.deny_read.iter().chain(files).map(String::as_str)
    }

    /// What is set and has no effect here, each with its key and what holds instead: a
    /// setting that does nothing must not look as if it did.
    #[must_use]
    pub fn without_effect(&self) -> Vec<String> {
        let network = &self.network;
        let said = |key: &str, instead: &str| format!("`sandbox.{key}` has no effect: {instead}");
        let own = "commands reach the network by Ostler's own proxy, which asks `allowedDomains`";
        let table = [
            (
                !self.ignore_violations.is_empty(),
                "ignoreViolations",
                "a refusal is seen by the command alone and never reported",
            ),
            (network.http_proxy_port.is_some(), "network.httpProxyPort", own),
            (network.socks_proxy_port.is_some(), "network.socksProxyPort", own),
            (
                network.tls_terminate.is_some(),
                "network.tlsTerminate",
                "connections are judged by host and port and never opened",
            ),
            (
                self.enable_weaker_network_isolation,
                "enableWeakerNetworkIsolation",
                "where the network cannot be filtered, `ostler doctor` says so",
            ),
        ];
        let set = table.iter().filter(|(is_set, ..)| *is_set);
        set.map(|(_, key, instead)| said(key, instead)).collect()
    }

    /// The policy that these settings make for a session.
    #[must_use]
    pub fn policy(&self, folders: &Folders) -> Policy {
        let paths = |list: &[String]| -> Vec<AbsPath> {
            list.iter().map(|text| absolute(text, folders)).collect()
        };
        let files = &self.filesystem;
        let mut write = vec![folders.project.clone()];
        write.extend(folders.extra.iter().chain(&folders.allow_write).cloned());
        write.extend(paths(&files.allow_write));
        let mut deny_write = paths(&files.deny_write);
        deny_write.extend(folders.deny_write.iter().chain(&folders.own).cloned());
        let denied = self.denied().filter(|text| !is_glob(text));
        let mut deny_read: Vec<_> = denied.map(|text| absolute(text, folders)).collect();
        deny_read.extend(folders.deny_read.iter().chain(&folders.own).cloned());
        let (hidden_vars, masked_vars) = self.variables();
        Policy {
            write,
            deny_write,
            deny_read,
            allow_read: paths(&files.allow_read),
            project: Some(folders.project.clone()),
            temp: Some(folders.temp.clone()),
            files_confined: !files.disabled,
            network: Network::Proxied,
            unix_sockets: paths(&self.network.allow_unix_sockets),
            all_unix_sockets: self.network.allow_all_unix_sockets,
            local_binding: self.network.allow_local_binding,
            hidden_vars,
            masked_vars,
            nested_namespaces: self.allow_nested_user_namespaces,
        }
    }

    fn variables(&self) -> (BTreeSet<String>, BTreeMap<String, String>) {
        let mut hidden = BTreeSet::new();
        let mut masked = BTreeMap::new();
        for var in &self.credentials.env_vars {
            match var {
                CredentialVar::Name(name)
                | CredentialVar::With { name, mode: CredentialMode::Deny } => {
                    hidden.insert(name.clone());
                }
                CredentialVar::With { name, mode: CredentialMode::Mask } => {
                    masked.insert(name.clone(), MASK.to_owned());
                }
            }
        }
        (hidden, masked)
    }
}

/// Whether a path of the settings names several; what lies in a folder is none of these.
fn is_glob(text: &str) -> bool {
    text.strip_suffix("/**").unwrap_or(text).contains(['*', '?', '[', '{'])
}

/// A path of the settings: `~/` is the home, `//` the root of the disk as in rules, a
/// relative one starts in the project; a trailing `/**` adds nothing.
fn absolute(text: &str, folders: &Folders) -> AbsPath {
    let text = text.strip_suffix("/**").unwrap_or(text);
    match text.strip_prefix('~') {
        Some("") => folders.home.clone(),
        Some(rest) if rest.starts_with('/') => folders.home.join(rest.trim_start_matches('/')),
        _ => match text.strip_prefix("//") {
            Some(rest) => AbsPath::root().join(rest),
            None => folders.project.join(text),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn abs(path: &str) -> AbsPath {
        AbsPath::new(path).unwrap()
    }

    fn folders() -> Folders {
        Folders {
            project: abs("/p"),
            extra: vec![abs("/extra")],
            home: abs("/home/u"),
            temp: abs("/own/tmp"),
            own: vec![abs("/own")],
            allow_write: Vec::new(),
            deny_write: Vec::new(),
            deny_read: vec![abs("/p/.env")],
        }
    }

    #[test]
    fn every_key_is_read_and_unknown_ones_are_not() {
        let settings: SandboxSettings = serde_json::from_str(
            r#"{"enabled": true, "failIfUnavailable": true, "autoAllowBashIfSandboxed": true,
                "excludedCommands": ["docker:*"], "allowUnsandboxedCommands": false, "future": 1,
                "network": {"allowedDomains": ["*.a.b"], "deniedDomains": ["x.a.b"], "strictAllowlist": true,
                    "allowLocalBinding": true, "allowUnixSockets": ["~/s"], "allowAllUnixSockets": false,
                    "allowMachLookup": ["m"], "httpProxyPort": 1, "socksProxyPort": 2, "tlsTerminate": {}},
                "filesystem": {"allowWrite": ["~/w", "//abs", "rel/**"], "denyWrite": ["rel/no"], "denyRead": ["~/.ssh", "~/**/*.pem", "secret?"], "allowRead": ["~/.ssh/config"]},
                "credentials": {"files": ["~/.netrc", {"path": "/etc/key", "mode": "mask"}],
                    "envVars": ["A", {"name": "B", "mode": "mask"}, {"name": "C"}]},
                "ignoreViolations": {"*": ["/x"]}, "bwrapPath": "/b", "socatPath": "/s"}"#,
        )
        .unwrap();
        assert!(settings.enabled && !settings.allows_unsandboxed());
        let idle = settings.without_effect();
        for key in [
            "ignoreViolations",
            "network.httpProxyPort",
            "network.socksProxyPort",
            "network.tlsTerminate",
        ] {
            assert!(
                idle.iter().any(|text| text.contains(&format!("`sandbox.{key}`"))),
                "{key}: {idle:?}"
            );
        }
        assert_eq!(idle.len(), 4, "{idle:?}");
        let policy = settings.policy(&folders());
        assert_eq!(policy.write, ["/p", "/extra", "/home/u/w", "/abs", "/p/rel"].map(abs));
        assert_eq!(policy.deny_write, ["/p/rel/no", "/own"].map(abs));
        assert_eq!(
            policy.deny_read,
            ["/home/u/.ssh", "/home/u/.netrc", "/etc/key", "/p/.env", "/own"].map(abs)
        );
        assert_eq!(settings.denied_globs(&folders()), ["/home/u/**/*.pem", "/p/secret?"]);
        assert_eq!(policy.allow_read, [abs("/home/u/.ssh/config")]);
        assert_eq!(policy.hidden_vars, ["A", "C"].map(str::to_owned).into());
        assert_eq!(policy.masked_vars.keys().collect::<Vec<_>>(), ["B"]);
        assert_eq!(policy.unix_sockets, [abs("/home/u/s")]);
    }

    #[test]
    fn defaults_are_those_of_the_specification() {
        let settings: SandboxSettings = serde_json::from_str("{}").unwrap();
        assert!(!settings.enabled && !settings.fail_if_unavailable);
        assert!(settings.without_effect().is_empty());
        assert!(!settings.auto_allow_bash_if_sandboxed && settings.allows_unsandboxed());
        assert!(settings.policy(&folders()).files_confined);
    }
}
