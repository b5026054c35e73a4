//! `session`, `providers`: looking and setting, without a run.

use std::io::{IsTerminal as _, Write as _};

use ostler_host::{Finding, Health, Host};
use ostler_protocol::{
    Role, RpcError, SessionId,
    methods::{
        Caller, Handler as _, ProvidersListParams, SessionListParams, SessionOpenParams,
        TransportKind,
    },
    session::{TranscriptBlock, TranscriptMessage},
};
use serde::Serialize;

use crate::{
    args::{JsonArgs, SessionArgs, SessionCommand},
    exit::{self, Exit},
    open_host, runtime,
    visible::visible,
};

pub(crate) fn caller() -> Caller {
    Caller { client: "cli".to_owned(), transport: TransportKind::InProcess }
}

/// Does one thing with a host and prints what it gives.
pub(crate) fn with_host<T>(
    work: impl AsyncFnOnce(&Host) -> Result<T, RpcError>,
    print: impl FnOnce(T) -> String,
) -> Exit {
    let host = open_host(None);
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return exit::fail(Exit::Failed, &error.to_string(), None),
    };
    match runtime.block_on(work(&host)) {
        Ok(value) => {
            let text = print(value);
            let text = if std::io::stdout().is_terminal() { visible(&text) } else { text.into() };
            exit::written(std::io::stdout().write_all(text.as_bytes()))
        }
        Err(error) => exit::rpc(&error),
    }
}

pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).map(|text| text + "\n").unwrap_or_default()
}

/// `session list` and `session show`.
pub(crate) fn session(args: &SessionArgs) -> Exit {
    match &args.command {
        SessionCommand::List { all, json: as_json } => with_host(
            async |host: &Host| {
                let project_path = (!all).then(|| host.env().cwd.to_text());
                host.session_list(&caller(), SessionListParams { project_path, status: None }).await
            },
            |rows| {
                if *as_json {
                    return json(&rows);
                }
                rows.iter()
                    .map(|row| {
                        let meta = &row.meta;
                        format!(
                            "{}  {:>4} turns  {}\n",
                            meta.id,
                            meta.turn_count,
                            one_line(&meta.title, 80)
                        )
                    })
                    .collect()
            },
        ),
        SessionCommand::Show { id, json: as_json } => with_host(
            async |host: &Host| {
                let session_id = SessionId::from(id.as_str());
                host.session_open(
                    &caller(),
                    SessionOpenParams { session_id, turns: Some(u32::MAX) },
                )
                .await
            },
            |open| {
                if *as_json {
                    json(&open)
                } else {
                    open.messages.iter().map(show_message).collect()
                }
            },
        ),
    }
}

pub(crate) fn one_line(text: &str, chars: usize) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(chars).collect()
}

fn show_message(message: &TranscriptMessage) -> String {
    let who = match message.role {
        Role::User => "you",
        Role::Assistant => "ostler",
    };
    let blocks: String = message.blocks.iter().map(show_block).collect();
    format!("-- {who}\n{blocks}\n")
}

fn show_block(block: &TranscriptBlock) -> String {
    match block {
        TranscriptBlock::Text { text } | TranscriptBlock::Notice { content: text, .. } => {
            format!("{text}\n")
        }
        TranscriptBlock::Thinking { thinking } => {
            format!("(thought) {}\n", one_line(thinking, 200))
        }
        TranscriptBlock::ToolUse { title, name, .. } => format!("> {name}: {title}\n"),
        TranscriptBlock::ToolResult { content, ok, .. } => {
            let sign = if *ok { "ok" } else { "failed" };
            format!("  {sign}: {}\n", one_line(content, 200))
        }
        TranscriptBlock::Image { media_type, .. } => format!("({media_type})\n"),
    }
}

/// `providers`.
pub(crate) fn providers(args: &JsonArgs) -> Exit {
    with_host(
        async |host: &Host| host.providers_list(&caller(), ProvidersListParams {}).await,
        |rows| {
            if args.json {
                return json(&rows);
            }
            rows.iter()
                .map(|row| {
                    let key = match (row.auth_mode.as_str(), row.has_api_key) {
                        ("none", _) => "no key needed",
                        (_, true) => "key is set",
                        (_, false) => "no key",
                    };
                    format!("{:<12} {:<14} {}\n", row.id, key, row.description)
                })
                .collect()
        },
    )
}

/// `doctor`: what was looked at, a line each; the exit code says whether all of it works.
pub(crate) fn doctor(args: &JsonArgs) -> Exit {
    let mut bad = false;
    let exit = with_host(
        async |host: &Host| Ok(host.doctor().await),
        |findings| {
            bad = findings.iter().any(|finding| finding.health == Health::Bad);
            if args.json { json(&findings) } else { findings.iter().map(show_finding).collect() }
        },
    );
    if bad { Exit::Failed } else { exit }
}

fn show_finding(finding: &Finding) -> String {
    let sign = match finding.health {
        Health::Good => "ok  ",
        Health::Weak => "weak",
        Health::Bad => "BAD ",
    };
    let hint = finding.hint.as_ref().map(|hint| format!("{:15}{hint}\n", "")).unwrap_or_default();
    format!("{sign} {:<9} {}\n{hint}", finding.what, finding.found)
}
