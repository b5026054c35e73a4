//! What the session will be: the command line first, then the `initialize` request.
//!
//! Whatever would lose a restriction, or silently not work, is refused here with its name.

use std::sync::Arc;

use ostler_host::{Behavior, Host, LiveSession, Overlay, Root, SessionSpec, Surface, SystemPrompt};
use ostler_protocol::{RpcError, SessionId};
use ostler_stdx::AbsPath;
use serde_json::Value;

use crate::args::{self, SdkArgs};

/// Splits a system prompt into what stays the same and what may change; never sent.
const BOUNDARY: &str = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";

/// Offered only if the host names it (agent-sdk.md section 6).
const ON_DEMAND: &[&str] = &["TodoWrite"];

const NO_SCHEMA: &str =
    "this version of Ostler cannot hold an answer to a JSON schema; leave `outputFormat` out";

/// Why the process does not start.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) text: String,
    /// Whether a host is told by a result too.
    pub(super) framed: bool,
}

impl Refusal {
    pub(super) fn framed(text: impl Into<String>) -> Self {
        Self { text: text.into(), framed: true }
    }

    fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), framed: false }
    }
}

/// The session that will be.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) args: SdkArgs,
    /// Whether the launch lets the host choose `bypassPermissions`.
    pub(super) may_bypass: bool,
    spec: SessionSpec,
    resume: Option<SessionId>,
    /// Servers that were asked for; none is connected.
    servers: Vec<String>,
}

impl Plan {
    /// A session with nothing special.
    pub(super) fn default_in(host: &Host) -> Self {
        Self {
            args: SdkArgs::default(),
            may_bypass: false,
            spec: SessionSpec::new(host.env().cwd.clone()),
            resume: None,
            servers: Vec::new(),
        }
    }

    /// What the command line asks for.
    pub(super) fn new(host: &Host, args: SdkArgs) -> Result<Self, Refusal> {
        if let Some(why) = args.refused.first() {
            return Err(Refusal::framed(why));
        }
        let mut plan = Self { may_bypass: args.may_bypass, args, ..Self::default_in(host) };
        plan.spec = plan.session(host)?;
        if let Some(text) = plan.args.managed_settings.take() {
            plan.take_managed(&text)?;
        }
        if let Some(settings) = plan.args.settings.take() {
            plan.take_settings(&settings)?;
        }
        for config in std::mem::take(&mut plan.args.mcp_configs) {
            let config = read(&plan.spec.cwd, "--mcp-config", &config)?;
            plan.add_servers(&config["mcpServers"]);
        }
        plan.find_session(host)?;
        Ok(plan)
    }

    fn session(&self, host: &Host) -> Result<SessionSpec, Refusal> {
        let args = &self.args;
        let env = host.env();
        let mut spec = SessionSpec::new(env.cwd.clone());
        spec.root = Root::Claude;
        spec.persist = !args.no_persistence;
        spec.keep_mode = false;
        spec.projected = false;
        spec.ask_timeout_ms = None;
        spec.join_waiting = true;
        env.var("CLAUDE_CODE_ENTRYPOINT").unwrap_or("cli").clone_into(&mut spec.entrypoint);
        spec.surface =
            if args.asks_host && !args.asks_nobody { Surface::Door } else { Surface::NoOne };
        spec.id = args.session_id.clone().map(SessionId);
        spec.model.clone_from(&args.model);
        spec.mode = args.mode;
        spec.system = self.system_prompt(&env.cwd)?;
        spec.tools.clone_from(&args.tools);
        spec.on_demand = ON_DEMAND;
        spec.rules = args.allowed.iter().map(|rule| (Behavior::Allow, rule.clone())).collect();
        for rule in &args.disallowed {
            match whole_tool(rule) {
                Some(tool) => spec.without_tools.push(tool.to_owned()),
                None => spec.rules.push((Behavior::Deny, rule.clone())),
            }
        }
        spec.extra_dirs = args.add_dirs.iter().map(|dir| env.cwd.join(dir)).collect();
        spec.setting_sources.clone_from(&args.setting_sources);
        spec.max_responses = args.max_turns;
        let budget = || env.var("MAX_THINKING_TOKENS").and_then(args::budget);
        spec.thinking = args.thinking.or_else(budget).unwrap_or_default();
        spec.effort = args.effort;
        spec.betas.clone_from(&args.betas);
        Ok(spec)
    }

    /// The prompt that the command line gives; the two SDKs give theirs there or in
    /// `initialize`, and nothing at all means the default (agent-sdk.md 1.4).
    fn system_prompt(&self, cwd: &AbsPath) -> Result<SystemPrompt, Refusal> {
        let args = &self.args;
        let text = match (&args.system_prompt, &args.system_prompt_file) {
            (Some(text), _) => Some(text.clone()),
            (None, Some(file)) => {
                let path = cwd.join(file);
                let text = std::fs::read_to_string(path.as_path()).map_err(|error| {
                    Refusal::framed(format!(
                        "Error: cannot read system prompt file `{path}`: {error}"
                    ))
                })?;
                Some(text)
            }
            (None, None) => None,
        };
        let append = args.append_system_prompt.clone();
        Ok(match (text, append) {
            (Some(text), append) => custom(&split_lines(&text), append),
            (None, Some(append)) => SystemPrompt::Append(append),
            (None, None) => SystemPrompt::Default,
        })
    }

    /// The session to resume, and whether an id is free.
    fn find_session(&mut self, host: &Host) -> Result<(), Refusal> {
        if let Some(id) = &self.spec.id
            && self.spec.persist
            && host.has_session(id)
        {
            return Err(Refusal::plain(format!("Error: Session ID {id} is already in use.")));
        }
        if let Some(id) = &self.args.resume {
            let found = SessionId(id.to_ascii_lowercase());
            if !args::is_uuid(id) || !host.has_session(&found) {
                return Err(Refusal::framed(format!(
                    "No conversation found with session ID: {id}"
                )));
            }
            self.resume = Some(found);
        } else if self.args.continue_newest {
            self.resume = host.newest_in(&self.spec.cwd, Root::Claude);
        }
        if self.resume.is_some() && !self.spec.persist {
            return Err(Refusal::framed(
                "a session that is resumed is written to; leave --no-session-persistence out",
            ));
        }
        Ok(())
    }

    /// The id that is known before there is a session.
    pub(super) fn session_id(&self) -> Option<String> {
        self.resume.as_ref().or(self.spec.id.as_ref()).map(|id| id.0.clone())
    }

    /// Whether the session begins here.
    pub(super) fn is_new(&self) -> bool {
        self.resume.is_none()
    }

    /// Servers with their state.
    pub(super) fn failed_servers(&self) -> Vec<(String, String)> {
        self.servers.iter().map(|name| (name.clone(), "failed".to_owned())).collect()
    }

    /// Makes or loads the session.
    pub(super) async fn open(&self, host: &Host) -> Result<Arc<LiveSession>, Refusal> {
        let spec = self.spec.clone();
        let opened = match &self.resume {
            Some(id) => host.resume(id, spec).await,
            None => host.start(spec),
        };
        opened.map_err(|error| self.refusal(&error))
    }

    fn refusal(&self, error: &RpcError) -> Refusal {
        let data = |key: &str| error.data.get(key).and_then(Value::as_str);
        match &self.spec.id {
            Some(id) if data("kind") == Some("busy") => {
                Refusal::plain(format!("Error: Session ID {id} is already in use."))
            }
            _ => Refusal::framed(match data("hint") {
                Some(hint) => format!("{}; {hint}", error.message),
                None => error.message.clone(),
            }),
        }
    }

    /// What the host adds to the command line (agent-sdk.md 2.10).
    pub(super) fn take_initialize(&mut self, request: &Value) -> Result<(), Refusal> {
        if request["jsonSchema"].is_object() {
            return Err(Refusal::framed(NO_SCHEMA));
        }
        self.add_servers(&request["sdkMcpServers"]);
        self.add_servers(&request["mcpServers"]);
        let append = request["appendSystemPrompt"].as_str().map(str::to_owned);
        let append = append.or_else(|| self.args.append_system_prompt.clone());
        let blocks = request["systemPrompt"].as_array().map(|blocks| {
            blocks.iter().filter_map(|block| block.as_str().map(str::to_owned)).collect::<Vec<_>>()
        });
        match (blocks, append) {
            (Some(blocks), append) => self.spec.system = custom(&blocks, append),
            (None, Some(append)) if self.spec.system.is_default() => {
                self.spec.system = SystemPrompt::Append(append);
            }
            _ => {}
        }
        Ok(())
    }

    /// Names of servers, in a list or as the keys of an object.
    fn add_servers(&mut self, servers: &Value) {
        let listed = servers.as_array().into_iter().flatten();
        let listed = listed.filter_map(|name| name.as_str().map(str::to_owned));
        let keyed = servers.as_object().into_iter().flatten().map(|(name, _)| name.clone());
        for name in listed.chain(keyed) {
            if !self.servers.contains(&name) {
                self.servers.push(name);
            }
        }
    }

    /// Settings of the command line, above those of files.
    fn take_settings(&mut self, argument: &str) -> Result<(), Refusal> {
        let overlay = overlay(&self.spec.cwd, "--settings", argument)?;
        self.spec.settings = Some(overlay);
        Ok(())
    }

    /// Managed settings can only tighten; what we cannot hold is refused.
    fn take_managed(&mut self, argument: &str) -> Result<(), Refusal> {
        let overlay = overlay(&self.spec.cwd, "--managed-settings", argument)?;
        if let Some(key) = ostler_host::unknown_settings(&overlay).first() {
            return Err(Refusal::framed(format!(
                "--managed-settings: this version of Ostler cannot hold `{key}`; leave it out"
            )));
        }
        self.spec.managed_settings = Some(overlay);
        Ok(())
    }
}

/// The tool that a rule means as a whole.
fn whole_tool(rule: &str) -> Option<&str> {
    let tool = rule.strip_suffix("()").or_else(|| rule.strip_suffix("(*)")).unwrap_or(rule);
    (!tool.contains('(')).then_some(tool)
}

/// Settings that stand in the argument itself or in the file that it names.
fn overlay(cwd: &AbsPath, flag: &str, argument: &str) -> Result<Overlay, Refusal> {
    ostler_host::settings_overlay(cwd, flag, argument)
        .map_err(|error| Refusal::framed(format!("Error: {}", error.message)))
}

/// JSON that stands in the argument itself or in the file that it names.
fn read(cwd: &AbsPath, flag: &str, argument: &str) -> Result<Value, Refusal> {
    let inline = argument.trim_start().starts_with('{');
    let text = if inline {
        argument.to_owned()
    } else {
        let path = cwd.join(argument);
        std::fs::read_to_string(path.as_path()).map_err(|error| {
            Refusal::framed(format!("Error: {flag}: cannot read `{path}`: {error}"))
        })?
    };
    serde_json::from_str(&text)
        .map_err(|error| Refusal::framed(format!("Error: {flag} is not JSON: {error}")))
}

/// A prompt in one text; the boundary may be a line of its own.
fn split_lines(text: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    for line in text.split_inclusive('\n') {
        if line.trim() == BOUNDARY {
            blocks.extend([BOUNDARY.to_owned(), String::new()]);
        } else if let Some(last) = blocks.last_mut() {
            last.push_str(line);
        }
    }
    blocks
}

/// A prompt of the host's own, perhaps empty.
fn custom(blocks: &[String], append: Option<String>) -> SystemPrompt {
    let stable = blocks.iter().position(|block| block.trim() == BOUNDARY);
    let blocks = blocks.iter().filter(|block| block.trim() != BOUNDARY).cloned().collect();
    SystemPrompt::Custom { blocks, stable, append }
}
