//! The command line as data (design.md 8 (d)). The flags of the Agent SDK door are parsed
//! by that door.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use ostler_protocol::Mode;

/// Runs coding agents: any model behind it, any front end before it.
#[derive(Debug, Parser)]
#[command(
    name = "ostler",
    version,
    disable_version_flag = true,
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  ostler web                                  open the page on this folder\n  ostler run \"why does the parser test fail?\"  one prompt, answer on standard output\n  git diff | ostler -p \"write a commit message\"\n  ostler run -m scripted:demo \"try it\"          no model, nothing is sent"
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Answer one prompt and end: `run` in Claude's spelling; knows only the exit codes 0 and 1.
    #[arg(short = 'p', long)]
    pub(crate) print: bool,
    /// Print the version.
    #[arg(short = 'v', long = "version")]
    pub(crate) version: bool,
    /// The flags of `run`.
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// What `ostler` can do.
#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one, and it is taken apart at once")]
pub(crate) enum Command {
    /// Answer one prompt and end.
    #[command(
        after_help = "Examples:\n  ostler run \"add a test for the lexer\" --mode acceptEdits\n  cat error.log | ostler run \"what went wrong?\"\n  ostler run -c \"and now the docs\"              go on with the newest session of this folder"
    )]
    Run(RunArgs),
    /// Serve JSON-RPC lines on standard input and output.
    #[command(
        after_help = "Example:\n  echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"}' | ostler serve"
    )]
    Serve(ServeArgs),
    /// Serve the page, HTTP and server-sent events on loopback.
    #[command(
        after_help = "Examples:\n  ostler web\n  ostler web --port 8080 --no-open -m scripted:demo"
    )]
    Web(WebArgs),
    /// List or show sessions.
    Session(SessionArgs),
    /// Let what a project brings (rules, hooks, servers) take effect.
    #[command(
        after_help = "Examples:\n  ostler trust              shows what the folder brings, and asks\n  ostler trust --yes        trusts exactly that content; a change asks again\n  ostler trust --json       the list for programs"
    )]
    Trust(TrustArgs),
    /// List the providers that can be used.
    Providers(JsonArgs),
    /// Say how a call would be judged here, and why.
    Permissions(PermissionsArgs),
    /// List what a session did and why: verdicts, times of calls, retries.
    #[command(after_help = "Example:\n  ostler trace 93ed8a47-09c4-405f-a43d-583c6f5b76a0")]
    Trace(TraceArgs),
    /// Look whether this machine and these settings are what a session needs.
    #[command(
        after_help = "Example:\n  ostler doctor        home, settings, model, programs, and what the sandbox gives here"
    )]
    Doctor(JsonArgs),
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// The flags of `run` and `-p`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The prompt; standard input is appended to it.
    pub(crate) prompt: Vec<String>,
    /// The model: an id, an alias, `provider/id`, or `scripted:FILE`.
    #[arg(short, long)]
    pub(crate) model: Option<String>,
    /// The permission mode: default acceptEdits plan review explore dontAsk auto bypassPermissions, or build, danger.
    #[arg(long, alias = "permission-mode", value_parser = parse_mode)]
    pub(crate) mode: Option<Mode>,
    /// Run every call without asking; deny and ask rules still hold.
    #[arg(long)]
    pub(crate) dangerously_skip_permissions: bool,
    /// Go on with the newest session of this folder.
    #[arg(short = 'c', long = "continue")]
    pub(crate) continue_: bool,
    /// Go on with this session.
    #[arg(
        short = 's',
        long = "session",
        short_alias = 'r',
        visible_alias = "resume",
        value_name = "ID"
    )]
    pub(crate) session: Option<String>,
    /// The id that a new session gets, a UUID.
    #[arg(long, value_name = "UUID", value_parser = parse_uuid)]
    pub(crate) session_id: Option<String>,
    /// What is printed.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) output_format: OutputFormat,
    /// What is read; `stream-json` selects the Agent SDK's protocol.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) input_format: InputFormat,
    /// Rules that allow, separated by commas or spaces, such as `Bash(git *),Edit`.
    #[arg(long, alias = "allowedTools", value_name = "RULES")]
    pub(crate) allowed_tools: Vec<String>,
    /// Rules that deny; a bare name takes the tool away.
    #[arg(long, alias = "disallowedTools", value_name = "RULES")]
    pub(crate) disallowed_tools: Vec<String>,
    /// The tools to offer, separated by commas; empty for none.
    #[arg(long, value_name = "NAMES")]
    pub(crate) tools: Option<String>,
    /// A further folder that counts as inside the project.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) add_dir: Vec<PathBuf>,
    /// Most answers of the model.
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<u32>,
    /// The whole system prompt.
    #[arg(long, value_name = "TEXT", conflicts_with = "system_prompt_file")]
    pub(crate) system_prompt: Option<String>,
    /// A file with the whole system prompt.
    #[arg(long, value_name = "FILE")]
    pub(crate) system_prompt_file: Option<PathBuf>,
    /// Text after the system prompt.
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_system_prompt: Option<String>,
    /// Settings files that count: user, project, local.
    #[arg(long, value_name = "NAMES")]
    pub(crate) setting_sources: Option<String>,
    /// Settings above those of files: JSON, or a file that holds it.
    #[arg(long, value_name = "JSON|FILE")]
    pub(crate) settings: Option<String>,
    /// Settings that only forbid, above all others: JSON, or a file that holds it.
    #[arg(long, value_name = "JSON|FILE")]
    pub(crate) managed_settings: Option<String>,
    /// Trust what the project brings, for this run.
    #[arg(long)]
    pub(crate) trust: bool,
    /// Show deltas in `stream-json`.
    #[arg(long)]
    pub(crate) include_partial_messages: bool,
    /// Accepted, and needed for nothing.
    #[arg(long, hide = true)]
    pub(crate) verbose: bool,
}

/// What `run` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer.
    Text,
    /// One result object of the Agent SDK.
    Json,
    /// Every frame of the Agent SDK, one a line.
    StreamJson,
    /// Every event of Ostler's own protocol, one a line.
    Events,
}

/// What `run` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// Text.
    Text,
    /// The Agent SDK's protocol.
    StreamJson,
}

/// The flags of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The model for new sessions.
    #[arg(short, long)]
    pub(crate) model: Option<String>,
}

/// The flags of `web`.
#[derive(Debug, Args)]
pub(crate) struct WebArgs {
    /// The model for new sessions.
    #[arg(short, long)]
    pub(crate) model: Option<String>,
    /// The address to listen on.
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: String,
    /// The port; without it 4096 or the next free one of 16.
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// Do not open a browser.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Accepted: a secret is always asked for.
    #[arg(long)]
    pub(crate) require_auth: bool,
}

/// `session list` and `session show`.
#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: SessionCommand,
}

/// What can be done with sessions here.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// List sessions, newest first.
    List {
        /// Sessions of all folders, not only of this one.
        #[arg(long)]
        all: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a session's transcript.
    Show {
        /// The session.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// What can be done with `permissions`.
#[derive(Debug, Args)]
pub(crate) struct PermissionsArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: PermissionsCommand,
}

/// What can be asked about permissions.
#[derive(Debug, Subcommand)]
pub(crate) enum PermissionsCommand {
    /// Judge a call as a session in this folder would; nothing is run.
    #[command(
        after_help = "Examples:\n  ostler permissions explain 'Bash(git push && rm -rf build)'\n  ostler permissions explain 'Edit(src/a.rs)' --mode plan\n  ostler permissions explain 'Bash {\"command\": \"ls\", \"run_in_background\": true}' --json"
    )]
    Explain {
        /// The call: `Bash(git status)`, `Read(./x)`, `WebFetch(https://...)`, `mcp__server__tool`, or `Tool {json}`.
        call: String,
        /// The permission mode; that of the settings if absent.
        #[arg(long, value_parser = parse_mode)]
        mode: Option<Mode>,
        /// The project folder; this one if absent.
        #[arg(long, value_name = "FOLDER")]
        cwd: Option<PathBuf>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// The flags of `trace`.
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// The session.
    pub(crate) session: String,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The flags of `trust`.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// The project folder; this one if absent.
    pub(crate) path: Option<PathBuf>,
    /// Trust what is shown without asking.
    #[arg(long, conflicts_with = "revoke")]
    pub(crate) yes: bool,
    /// Take the trust back.
    #[arg(long)]
    pub(crate) revoke: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Only `--json`.
#[derive(Debug, Args)]
pub(crate) struct JsonArgs {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_mode(name: &str) -> Result<Mode, String> {
    Mode::parse(name).ok_or_else(|| {
        "use one of default, acceptEdits, plan, review, explore, dontAsk, auto, bypassPermissions, build, danger"
            .to_owned()
    })
}

fn parse_uuid(text: &str) -> Result<String, String> {
    let shape = text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    if shape { Ok(text.to_ascii_lowercase()) } else { Err("it must be a UUID".to_owned()) }
}
