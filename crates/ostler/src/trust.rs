//! `trust`: shows what a project brings that could act, and trusts exactly that if the user
//! says so. Without a terminal it only shows, unless it is told.

use std::{
    fmt::Write as _,
    io::{BufRead as _, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
};

use ostler_host::Host;
use ostler_protocol::{
    ErrorKind, RpcError,
    methods::{
        Handler as _, ProjectsTrustParams, ProjectsTrustReportParams, ProjectsTrustReportResult,
    },
    trust::{TrustDecision, TrustState},
};

use crate::{
    args::TrustArgs,
    exit::Exit,
    housekeeping::{caller, json, with_host},
    visible::visible_line,
};

/// Shows and decides.
pub(crate) fn trust(args: &TrustArgs) -> Exit {
    with_host(async |host: &Host| decided(host, args).await, |said| said)
}

async fn decided(host: &Host, args: &TrustArgs) -> Result<String, RpcError> {
    let path = args.path.clone().unwrap_or_else(|| PathBuf::from("."));
    let project = host.env().cwd.join(&path).to_text();
    let params = ProjectsTrustReportParams { path: project.clone() };
    let report = host.projects_trust_report(&caller(), params).await?;
    let decide = async |decision| {
        let (path, hash) = (project.clone(), report.hash.clone());
        host.projects_trust(&caller(), ProjectsTrustParams { path, hash, decision }).await
    };
    if args.revoke {
        decide(TrustDecision::Revoke).await?;
        return Ok(format!("`{project}` is no longer trusted\n"));
    }
    if args.json && !args.yes {
        return Ok(json(&report));
    }
    let shown = shown(&project, &report);
    let waits = report.brings.iter().any(|brought| brought.loosens);
    if report.state == TrustState::Yes || !waits {
        return Ok(shown);
    }
    if !args.yes && !agrees(&shown)? {
        return Err(RpcError::new(ErrorKind::Usage, "nothing was trusted")
            .hint("`ostler trust --yes` trusts exactly what is shown, `--revoke` takes it back"));
    }
    let row = decide(TrustDecision::Trust).await?;
    if args.json {
        return Ok(json(&row));
    }
    let done = format!("`{project}` is trusted with exactly this; a change asks again\n");
    Ok(if args.yes { shown + &done } else { done })
}

/// Shows the report and asks on the terminal; without one nobody agrees.
fn agrees(shown: &str) -> Result<bool, RpcError> {
    let failed = |error: std::io::Error| {
        RpcError::new(ErrorKind::Internal, format!("the terminal cannot be used: {error}"))
    };
    let mut out = std::io::stderr();
    let asks = std::io::stdin().is_terminal() && out.is_terminal();
    write!(out, "{shown}").map_err(failed)?;
    if !asks {
        return Ok(false);
    }
    write!(out, "Trust exactly this content? [y/N] ").map_err(failed)?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(failed)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// The report for a reader. What the repository wrote is shown without its escapes.
fn shown(project: &str, report: &ProjectsTrustReportResult) -> String {
    let state = match report.state {
        TrustState::Yes => "trusted: exactly this content",
        TrustState::No => "not trusted",
        TrustState::Changed => "not trusted: it was, and its content has changed since",
        TrustState::Denied => "not trusted: somebody looked at exactly this and did not want it",
    };
    let mut text = format!("{}: {state}\n", visible_line(project));
    let mut list = |title: &str, loosens: bool| {
        let mut brings = report.brings.iter().filter(|b| b.loosens == loosens).peekable();
        if brings.peek().is_none() {
            return;
        }
        let _ = writeln!(text, "\n{title}");
        for brought in brings {
            let file = Path::new(&brought.file);
            let file = file.strip_prefix(project).unwrap_or(file).to_string_lossy();
            let place = match brought.line {
                Some(line) => format!("{file}:{line}"),
                None => file.into_owned(),
            };
            let _ = writeln!(text, "  {}  ({})", visible_line(&brought.text), visible_line(&place));
        }
    };
    let act = match report.state {
        TrustState::Yes => "It may:",
        _ => "Once trusted, it would do this:",
    };
    list(act, true);
    list("These count already, or never do:", false);
    if report.brings.iter().all(|brought| !brought.loosens) {
        text.push_str("It brings nothing that waits for trust.\n");
    }
    text
}
