//! What a repository brings that could act: every entry of its settings and of `.mcp.json`,
//! one by one, in words for a person who decides about it. Decides nothing and runs nothing.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{
    file,
    layers::mode_loosens,
    locate::{self, Step},
    table::{self, From, Row},
};

/// What kind of thing a repository brings (`projects.trustReport`, ipc.md 11.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BroughtKind {
    /// A program that runs at some event.
    Hook,
    /// A server that would be started or spoken to.
    Mcp,
    /// A variable in the environment of programs.
    Env,
    /// An address to which requests would go.
    Endpoint,
    /// A permission rule, a folder, or a setting of the sandbox.
    Rule,
    /// A program that would be run for something else.
    Command,
    /// A plugin.
    Plugin,
    /// A permission mode.
    Mode,
}

/// One thing that a repository brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brought {
    /// What kind of thing.
    pub kind: BroughtKind,
    /// What it would do, in one line.
    pub text: String,
    /// Where it stands.
    pub file: PathBuf,
    /// The line, from 1; 0 if unknown.
    pub line: usize,
    /// Whether it waits for trust; else it forbids and counts at once, or never counts.
    pub loosens: bool,
}

/// What a settings file of a project brings. `allows`: its allow rules count without trust.
pub(super) fn of_settings(path: &Path, bytes: &[u8], allows: bool) -> Vec<Brought> {
    let mut found = Found::new(path, bytes);
    match file::parse(path, bytes) {
        Ok(parsed) => found.group("", &mut Vec::new(), &parsed.keys, allows),
        Err(problem) => {
            let text = format!("cannot be read, so nothing in it counts: {}", problem.what);
            found.brought.push(Brought {
                kind: BroughtKind::Rule,
                text,
                file: path.to_path_buf(),
                line: problem.line,
                loosens: false,
            });
        }
    }
    found.brought
}

/// What `.mcp.json` brings.
pub(super) fn of_servers(path: &Path, bytes: &[u8]) -> Vec<Brought> {
    let mut found = Found::new(path, bytes);
    let read: Option<Map<String, Value>> = serde_json::from_slice(bytes).ok();
    let servers = read.as_ref().and_then(|map| map.get("mcpServers")).and_then(Value::as_object);
    for (name, server) in servers.into_iter().flatten() {
        let text = |key: &str| server.get(key).and_then(Value::as_str);
        let args = server.get("args").and_then(Value::as_array).into_iter().flatten();
        let args: Vec<&str> = args.filter_map(Value::as_str).collect();
        let what = match (text("command"), text("url")) {
            (Some(command), _) => {
                format!(
                    "starts the server `{name}`: `{}`",
                    [&[command], &args[..]].concat().join(" ")
                )
            }
            (None, Some(url)) => format!("speaks to the server `{name}` at `{url}`"),
            (None, None) => format!("names the server `{name}`"),
        };
        let at = [Step::Key("mcpServers".to_owned()), Step::Key(name.clone())];
        found.add(BroughtKind::Mcp, what, &at, true);
    }
    found.brought
}

struct Found<'a> {
    path: &'a Path,
    text: &'a str,
    brought: Vec<Brought>,
}

/// How many characters of one value are shown.
const MOST_SHOWN: usize = 300;

impl<'a> Found<'a> {
    fn new(path: &'a Path, bytes: &'a [u8]) -> Self {
        Self { path, text: std::str::from_utf8(bytes).unwrap_or_default(), brought: Vec::new() }
    }

    fn add(&mut self, kind: BroughtKind, text: String, at: &[Step], loosens: bool) {
        let line = locate::place_of(self.text, at).map_or(0, |(line, _)| line);
        let text = match text.char_indices().nth(MOST_SHOWN) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text,
        };
        self.brought.push(Brought { kind, text, file: self.path.to_path_buf(), line, loosens });
    }

    fn group(&mut self, prefix: &str, at: &mut Vec<Step>, map: &Map<String, Value>, allows: bool) {
        for (name, value) in map {
            let path = file::join(prefix, name);
            at.push(Step::Key(name.clone()));
            match (value, table::find(&path)) {
                (Value::Object(below), None) if table::is_group(&path) => {
                    self.group(&path, at, below, allows);
                }
                (value, Some(row)) => self.key(row, value, at, allows),
                _ => {}
            }
            at.pop();
        }
    }

    fn key(&mut self, row: &Row, value: &Value, at: &mut Vec<Step>, allows: bool) {
        let never = row.from != From::Anyone;
        let waits = !never && !row.is_harmless(value);
        match (row.path, value) {
            ("hooks", Value::Object(events)) => self.hooks(events, at),
            ("env", Value::Object(variables)) => {
                for (name, value) in variables {
                    at.push(Step::Key(name.clone()));
                    let shown = value.as_str().unwrap_or_default();
                    let (kind, text) = match is_endpoint(name) {
                        true => (
                            BroughtKind::Endpoint,
                            format!("sends requests to `{shown}` (`{name}`)"),
                        ),
                        false => (BroughtKind::Env, format!("sets `{name}` to `{shown}`")),
                    };
                    self.add(kind, text, at, true);
                    at.pop();
                }
            }
            ("permissions.defaultMode", Value::String(mode)) => {
                let text = if mode_loosens(value) {
                    format!("asks for the mode `{mode}`, which never counts in a project's file")
                } else {
                    format!("begins sessions in the mode `{mode}`")
                };
                self.add(BroughtKind::Mode, text, at, waits && !mode_loosens(value));
            }
            ("apiKeyHelper", Value::String(command)) => {
                let text = format!(
                    "would run `{command}` for a key, which never counts in a project's file"
                );
                self.add(BroughtKind::Command, text, at, false);
            }
            (path, Value::Array(items)) if !row.is_neutral() => {
                for (index, item) in items.iter().enumerate() {
                    at.push(Step::At(index));
                    let shown = shown(item);
                    let (kind, text) = match path {
                        "permissions.allow" => {
                            (BroughtKind::Rule, format!("allows `{shown}` without asking"))
                        }
                        "permissions.deny" => (BroughtKind::Rule, format!("denies `{shown}`")),
                        "permissions.ask" => (BroughtKind::Rule, format!("asks before `{shown}`")),
                        "permissions.additionalDirectories" => (
                            BroughtKind::Rule,
                            format!("counts the folder `{shown}` as part of the project"),
                        ),
                        "enabledMcpjsonServers" => {
                            (BroughtKind::Mcp, format!("lets the server `{shown}` start"))
                        }
                        _ => (BroughtKind::Rule, format!("sets `{path}`: `{shown}`")),
                    };
                    let counts = allows && path == "permissions.allow";
                    self.add(kind, text, at, waits && !counts);
                    at.pop();
                }
            }
            ("enableAllProjectMcpServers", value) => {
                self.add(
                    BroughtKind::Mcp,
                    format!("lets every server start: `{value}`"),
                    at,
                    waits,
                );
            }
            ("enabledPlugins", Value::Object(plugins)) => {
                for name in plugins.keys() {
                    self.add(
                        BroughtKind::Plugin,
                        format!("switches the plugin `{name}`"),
                        at,
                        waits,
                    );
                }
            }
            (path, value) if waits || row.tightens(value) => {
                self.add(
                    BroughtKind::Rule,
                    format!("sets `{path}` to `{}`", shown(value)),
                    at,
                    waits,
                );
            }
            _ => {}
        }
    }

    /// Hooks of both shapes: lists of entries, each with a list of its own or not.
    fn hooks(&mut self, events: &Map<String, Value>, at: &mut Vec<Step>) {
        for (event, entries) in events {
            at.push(Step::Key(event.clone()));
            for (index, entry) in entries.as_array().into_iter().flatten().enumerate() {
                at.push(Step::At(index));
                let matcher =
                    entry.get("matcher").and_then(Value::as_str).filter(|m| !m.is_empty());
                let when = match matcher {
                    Some(matcher) => format!("{event} of `{matcher}`"),
                    None => event.clone(),
                };
                match entry.get("hooks").and_then(Value::as_array) {
                    Some(hooks) => {
                        for hook in hooks {
                            self.add(BroughtKind::Hook, hook_text(&when, hook), at, true);
                        }
                    }
                    None => self.add(BroughtKind::Hook, hook_text(&when, entry), at, true),
                }
                at.pop();
            }
            at.pop();
        }
    }
}

fn hook_text(when: &str, hook: &Value) -> String {
    let text = |key: &str| hook.get(key).and_then(Value::as_str);
    match (text("command"), text("url"), text("prompt")) {
        (Some(command), ..) => format!("runs `{command}` at {when}"),
        (None, Some(url), _) => format!("sends to `{url}` at {when}"),
        (None, None, Some(prompt)) => format!("asks a model at {when}: `{prompt}`"),
        (None, None, None) => format!("does `{}` at {when}", shown(hook)),
    }
}

/// Whether a variable says where requests go.
fn is_endpoint(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["_URL", "_ENDPOINT", "_PROXY", "_HOST", "_BASE"].iter().any(|end| name.ends_with(end))
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
