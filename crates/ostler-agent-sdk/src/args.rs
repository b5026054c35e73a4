//! The command line of the Agent SDK door, as the two SDKs write it (agent-sdk.md 1.1, 1.4).
//!
//! A parser of its own, because the details are the contract: `--flag value` and
//! `--flag=value`, values that are empty or begin with `-`, words before the flags, and
//! the exact text for a flag that nobody knows. A flag that we know and do not implement
//! is accepted only if that loses no restriction.

#[cfg(test)]
mod tests;

use std::ffi::OsString;

use ostler_host::{Effort, Thinking, split_rule_list};
use ostler_protocol::Mode;

/// What the command line asks for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SdkArgs {
    /// `--model`.
    pub model: Option<String>,
    /// `--permission-mode`.
    pub mode: Option<Mode>,
    /// Whether the host may switch to `bypassPermissions` later.
    pub may_bypass: bool,
    /// `--permission-prompt-tool=stdio`: the host is asked.
    pub asks_host: bool,
    /// `--permission-prompts=none`: nobody is asked.
    pub asks_nobody: bool,
    /// `--allowedTools`, taken apart.
    pub allowed: Vec<String>,
    /// `--disallowedTools`, taken apart.
    pub disallowed: Vec<String>,
    /// `--tools`; all if absent.
    pub tools: Option<Vec<String>>,
    /// `--add-dir`.
    pub add_dirs: Vec<String>,
    /// `--settings`: a path or JSON.
    pub settings: Option<String>,
    /// `--managed-settings`: JSON.
    pub managed_settings: Option<String>,
    /// `--setting-sources`; all if absent.
    pub setting_sources: Option<Vec<String>>,
    /// `--system-prompt`; empty is a prompt too.
    pub system_prompt: Option<String>,
    /// `--system-prompt-file`.
    pub system_prompt_file: Option<String>,
    /// `--append-system-prompt`.
    pub append_system_prompt: Option<String>,
    /// `--max-turns`.
    pub max_turns: Option<u32>,
    /// `--thinking`, `--max-thinking-tokens`.
    pub thinking: Option<Thinking>,
    /// `--effort`.
    pub effort: Option<Effort>,
    /// `--betas`.
    pub betas: Vec<String>,
    /// `--continue`.
    pub continue_newest: bool,
    /// `--resume`.
    pub resume: Option<String>,
    /// `--session-id`, a UUID in lower case.
    pub session_id: Option<String>,
    /// `--include-partial-messages`.
    pub partial_messages: bool,
    /// Send frames of all hooks.
    pub hook_events: bool,
    /// `--replay-user-messages`.
    pub replay_user_messages: bool,
    /// `--no-session-persistence`.
    pub no_persistence: bool,
    /// `--mcp-config`, each a path or JSON.
    pub mcp_configs: Vec<String>,
    /// What was asked for and cannot be done: a text for each, said at start-up.
    pub refused: Vec<String>,
    /// What was asked for and is left out: a line for standard error for each.
    pub left_out: Vec<String>,
}

/// What a flag does.
#[derive(Debug, Clone, Copy)]
enum Flag {
    /// Sets something.
    Switch(fn(&mut SdkArgs)),
    /// Takes a value.
    Value(fn(&mut SdkArgs, &str) -> Result<(), String>),
    /// Takes no value and loses nothing when it is ignored.
    Ignored,
    /// Takes a value and loses nothing when it is ignored.
    IgnoredValue,
    /// Takes a value and is left out; the person is told, for they would miss it.
    LeftOutValue(&'static str),
    /// Takes no value; ignoring it would lose what the host relies on.
    Refused(&'static str),
    /// The same with a value.
    RefusedValue(&'static str),
}

const NO_FORK: &str =
    "this version of Ostler cannot branch a session; resume it with --resume alone";
const NO_MIRROR: &str = "this version of Ostler cannot mirror sessions to a session store";
const NO_PRICES: &str = "this version of Ostler knows no prices and cannot hold a budget; leave the budget out, or limit turns with --max-turns";
const NO_SCHEMA: &str = "this version of Ostler cannot hold an answer to a JSON schema";
const NO_AGENT: &str = "this version of Ostler cannot run the main thread as an agent";
const NO_CLAIM: &str = "this version of Ostler cannot be started ahead and claimed later";
const NO_PLUGINS: &str = "this version of Ostler loads no plugins";
const NO_FALLBACK: &str =
    "this version of Ostler has no fallback model; a run ends if its model stays overloaded";
const NO_CONFIG_ROOT: &str =
    "this version of Ostler reads project settings from the working folder only";

/// Every flag, in the order of agent-sdk.md 1.4.
const FLAGS: &[(&str, Flag)] = &[
    ("output-format", Flag::Value(stream_json_only)),
    ("input-format", Flag::Value(stream_json_only)),
    ("verbose", Flag::Ignored),
    ("print", Flag::Ignored),
    ("system-prompt", Flag::Value(|args, v| text(&mut args.system_prompt, v))),
    ("system-prompt-file", Flag::Value(|args, v| text(&mut args.system_prompt_file, v))),
    ("append-system-prompt", Flag::Value(|args, v| text(&mut args.append_system_prompt, v))),
    ("tools", Flag::Value(tools)),
    ("allowedTools", Flag::Value(|args, v| rules(&mut args.allowed, v))),
    ("allowed-tools", Flag::Value(|args, v| rules(&mut args.allowed, v))),
    ("disallowedTools", Flag::Value(|args, v| rules(&mut args.disallowed, v))),
    ("disallowed-tools", Flag::Value(|args, v| rules(&mut args.disallowed, v))),
    ("permission-mode", Flag::Value(mode)),
    ("allow-dangerously-skip-permissions", Flag::Switch(|args| args.may_bypass = true)),
    (
        "dangerously-skip-permissions",
        Flag::Switch(|args| (args.mode, args.may_bypass) = (Some(Mode::BypassPermissions), true)),
    ),
    ("permission-prompt-tool", Flag::Value(prompt_tool)),
    ("permission-prompts", Flag::Value(prompts)),
    ("mcp-config", Flag::Value(|args, v| push(&mut args.mcp_configs, v))),
    ("strict-mcp-config", Flag::Ignored),
    ("await-initialize", Flag::Ignored),
    ("plugin-dir", Flag::LeftOutValue(NO_PLUGINS)),
    ("plugin-dir-no-mcp", Flag::LeftOutValue(NO_PLUGINS)),
    ("agent", Flag::RefusedValue(NO_AGENT)),
    ("model", Flag::Value(|args, v| text(&mut args.model, v))),
    ("fallback-model", Flag::LeftOutValue(NO_FALLBACK)),
    (
        "betas",
        Flag::Value(|args, v| {
            args.betas.extend(list(v));
            Ok(())
        }),
    ),
    ("max-turns", Flag::Value(max_turns)),
    ("max-budget-usd", Flag::RefusedValue(NO_PRICES)),
    ("task-budget", Flag::RefusedValue(NO_PRICES)),
    ("thinking", Flag::Value(thinking)),
    ("max-thinking-tokens", Flag::Value(thinking_tokens)),
    ("thinking-display", Flag::IgnoredValue),
    ("effort", Flag::Value(effort)),
    ("json-schema", Flag::RefusedValue(NO_SCHEMA)),
    ("settings", Flag::Value(|args, v| text(&mut args.settings, v))),
    ("managed-settings", Flag::Value(|args, v| text(&mut args.managed_settings, v))),
    ("setting-sources", Flag::Value(setting_sources)),
    ("project-config-root", Flag::RefusedValue(NO_CONFIG_ROOT)),
    ("add-dir", Flag::Value(|args, v| push(&mut args.add_dirs, v))),
    ("continue", Flag::Switch(|args| args.continue_newest = true)),
    ("resume", Flag::Value(|args, v| text(&mut args.resume, v))),
    ("fork-session", Flag::Refused(NO_FORK)),
    ("session-id", Flag::Value(session_id)),
    ("resume-session-at", Flag::RefusedValue(NO_FORK)),
    (
        "resume-drops-turn",
        Flag::RefusedValue(
            "Resume rejected by --resume-drops-turn: this version of Ostler cannot drop turns",
        ),
    ),
    ("session-mirror", Flag::Refused(NO_MIRROR)),
    ("no-session-persistence", Flag::Switch(|args| args.no_persistence = true)),
    ("include-partial-messages", Flag::Switch(|args| args.partial_messages = true)),
    ("include-hook-events", Flag::Switch(|args| args.hook_events = true)),
    ("replay-user-messages", Flag::Switch(|args| args.replay_user_messages = true)),
    ("debug", Flag::Ignored),
    ("debug-to-stderr", Flag::Ignored),
    ("debug-file", Flag::IgnoredValue),
    ("await-claim", Flag::Refused(NO_CLAIM)),
];

/// Whether the command line asks for this door: `--input-format stream-json` anywhere.
#[must_use]
pub fn is_wanted(args: &[OsString]) -> bool {
    let is = |arg: Option<&OsString>, text: &str| arg.is_some_and(|arg| arg == text);
    args.iter().enumerate().any(|(at, arg)| {
        arg == "--input-format=stream-json"
            || arg == "--input-format" && is(args.get(at + 1), "stream-json")
    })
}

/// Reads the command line, without the program's name.
///
/// # Errors
/// The whole line for standard error: an unknown flag, or a value that makes no sense.
pub fn parse(args: &[OsString]) -> Result<SdkArgs, String> {
    let words: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    // The host's `executableArgs` stand before the flags; they mean nothing to us.
    let mut words = words.into_iter().skip_while(|word| !word.starts_with('-'));
    let mut parsed = SdkArgs::default();
    while let Some(word) = words.next() {
        let word = match word.as_str() {
            "-p" => "--print".to_owned(),
            "-c" => "--continue".to_owned(),
            "-r" => "--resume".to_owned(),
            "-m" => "--model".to_owned(),
            "-d" => "--debug".to_owned(),
            _ => word,
        };
        let Some(body) = word.strip_prefix("--") else {
            return Err(unknown(&word));
        };
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (body, None),
        };
        let flag = FLAGS.iter().find(|(known, _)| *known == name).map(|(_, flag)| *flag);
        take(&mut parsed, name, flag, value, &mut words)?;
    }
    check(&parsed)?;
    Ok(parsed)
}

fn take(
    parsed: &mut SdkArgs,
    name: &str,
    flag: Option<Flag>,
    value: Option<String>,
    words: &mut impl Iterator<Item = String>,
) -> Result<(), String> {
    let mut value = || {
        value
            .clone()
            .or_else(|| words.next())
            .ok_or_else(|| format!("error: option '--{name} <value>' argument missing"))
    };
    match flag {
        None => return Err(unknown(&format!("--{name}"))),
        Some(Flag::Switch(set)) => set(parsed),
        Some(Flag::Value(set)) => {
            let value = value()?;
            set(parsed, &value).map_err(|problem| {
                if problem.starts_with("Error:") {
                    problem
                } else {
                    format!(
                        "error: option '--{name} <value>' argument '{value}' is invalid. {problem}"
                    )
                }
            })?;
        }
        Some(Flag::Ignored) => {}
        Some(Flag::IgnoredValue) => drop(value()?),
        Some(Flag::LeftOutValue(why)) => {
            let value = value()?;
            parsed.left_out.push(format!("warning: `--{name} {value}` is left out: {why}"));
        }
        Some(Flag::Refused(why)) => parsed.refused.push(why.to_owned()),
        Some(Flag::RefusedValue(why)) => {
            value()?;
            parsed.refused.push(why.to_owned());
        }
    }
    Ok(())
}

fn unknown(flag: &str) -> String {
    format!("error: unknown option '{flag}'")
}

fn check(args: &SdkArgs) -> Result<(), String> {
    if args.session_id.is_some() && (args.continue_newest || args.resume.is_some()) {
        return Err("Error: --session-id cannot be used with --continue or --resume.".to_owned());
    }
    if args.system_prompt.is_some() && args.system_prompt_file.is_some() {
        return Err("Error: Cannot use both --system-prompt and --system-prompt-file.".to_owned());
    }
    Ok(())
}

fn text(place: &mut Option<String>, value: &str) -> Result<(), String> {
    *place = Some(value.to_owned());
    Ok(())
}

fn push(place: &mut Vec<String>, value: &str) -> Result<(), String> {
    place.push(value.to_owned());
    Ok(())
}

fn rules(place: &mut Vec<String>, value: &str) -> Result<(), String> {
    place.extend(split_rule_list(value));
    Ok(())
}

/// A list separated by commas, without empty entries.
fn list(value: &str) -> Vec<String> {
    let entries = value.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries.map(str::to_owned).collect()
}

fn stream_json_only(_: &mut SdkArgs, value: &str) -> Result<(), String> {
    if value == "stream-json" {
        Ok(())
    } else {
        Err("With `--input-format stream-json` both formats are stream-json.".to_owned())
    }
}

fn tools(args: &mut SdkArgs, value: &str) -> Result<(), String> {
    args.tools = (value != "default").then(|| split_rule_list(value));
    Ok(())
}

fn mode(args: &mut SdkArgs, value: &str) -> Result<(), String> {
    let mode = Mode::parse(value).ok_or_else(|| {
        "Allowed choices are acceptEdits, auto, bypassPermissions, default, dontAsk, plan."
            .to_owned()
    })?;
    args.may_bypass |= mode == Mode::BypassPermissions;
    args.mode = Some(mode);
    Ok(())
}

fn prompt_tool(args: &mut SdkArgs, value: &str) -> Result<(), String> {
    if value == "stdio" {
        args.asks_host = true;
    } else {
        args.refused.push(format!(
            "this version of Ostler cannot ask the MCP tool `{value}` for permission; use a canUseTool callback"
        ));
    }
    Ok(())
}

fn prompts(args: &mut SdkArgs, value: &str) -> Result<(), String> {
    match value {
        "none" => args.asks_nobody = true,
        "default" | "host" => {}
        _ => return Err("Allowed choices are default, none.".to_owned()),
    }
    Ok(())
}

fn max_turns(args: &mut SdkArgs, value: &str) -> Result<(), String> {
    let turns: u32 = value.parse().ok().filter(|turns| *turns > 0).ok_or("Use a number from 1.")?;
    args.max_turns = Some(turns);
    Ok(())
}

fn thinking(args: &mut SdkArgs, value: &str) -> Result<(), String> {
    args.thinking = Some(match value {
        "adaptive" | "enabled" => Thinking::Adaptive,
        "disabled" => Thinking::Disabled,
        _ => return Err("Allowed choices are adaptive, disabled.".to_owned()),
    });
    Ok(())
}

fn thinking_tokens(args: &mut SdkArgs, value: &str) -> Result<(), String> {
    args.thinking = Some(budget(value).ok_or("Use a number of tokens.")?);
    Ok(())
}

/// A budget of reasoning in words; none at all is `0`.
pub(crate) fn budget(tokens: &str) -> Option<Thinking> {
    match tokens.trim().parse().ok()? {
        0 => Some(Thinking::Disabled),
        tokens => Some(Thinking::Budget(tokens)),
    }
}

fn effort(args: &mut SdkArgs, value: &str) -> Result<(), String> {
    args.effort = Some(match value {
        "low" => Effort::Low,
        "medium" => Effort::Medium,
        "high" => Effort::High,
        "xhigh" => Effort::XHigh,
        "max" => Effort::Max,
        _ => return Err("Allowed choices are low, medium, high, xhigh, max.".to_owned()),
    });
    Ok(())
}

fn setting_sources(args: &mut SdkArgs, value: &str) -> Result<(), String> {
    let sources = list(value);
    if let Some(other) =
        sources.iter().find(|s| !["user", "project", "local"].contains(&s.as_str()))
    {
        return Err(format!("`{other}` is none of user, project, local."));
    }
    args.setting_sources = Some(sources);
    Ok(())
}

fn session_id(args: &mut SdkArgs, value: &str) -> Result<(), String> {
    if !is_uuid(value) {
        return Err("Error: Invalid session ID. Must be a valid UUID.".to_owned());
    }
    args.session_id = Some(value.to_ascii_lowercase());
    Ok(())
}

/// Whether a text has the form of a UUID.
pub(crate) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}
