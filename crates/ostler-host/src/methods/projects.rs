//! `projects.*`: the folders that sessions were started in, and whether what they bring may
//! act. What counts before trust is decided where settings are read.

use ostler_protocol::{
    ErrorKind, RpcError,
    methods::{
        ProjectRow, ProjectsListResult, ProjectsTrustParams, ProjectsTrustReportResult,
        SessionListParams,
    },
    session::SessionRow,
    trust::{Brought, BroughtKind, TrustDecision, TrustState},
};
use ostler_stdx::AbsPath;

use super::session;
use crate::{host::Host, live::storage_error};

/// The projects, that of the newest session first.
pub(super) fn list(host: &Host) -> Result<ProjectsListResult, RpcError> {
    let sessions = session::list(host, &SessionListParams { project_path: None, status: None })?;
    let mut rows: Vec<ProjectRow> = Vec::new();
    for SessionRow { meta, .. } in sessions {
        match rows.iter_mut().find(|row| row.path == meta.project_path) {
            Some(row) => {
                row.sessions += 1;
                row.last_opened_at = row.last_opened_at.max(meta.last_turn_at);
            }
            None => {
                let mut row = row(host, meta.project_path);
                (row.sessions, row.last_opened_at) = (1, meta.last_turn_at);
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

/// A project without its sessions.
fn row(host: &Host, path: String) -> ProjectRow {
    let folder = std::path::Path::new(&path);
    let trust =
        AbsPath::new(folder.to_path_buf()).map(|folder| host.store().trust_state(&folder).0);
    ProjectRow {
        name: folder
            .file_name()
            .map_or_else(|| path.clone(), |name| name.to_string_lossy().into_owned()),
        exists: folder.is_dir(),
        trust: trust.map_or(TrustState::No, state_of),
        path,
        last_opened_at: 0,
        sessions: 0,
    }
}

pub(super) fn trust_report(host: &Host, path: &str) -> Result<ProjectsTrustReportResult, RpcError> {
    let report = host.trust_report(&folder("projects.trustReport", path)?);
    Ok(ProjectsTrustReportResult {
        hash: report.hash,
        state: state_of(report.state),
        brings: report.brings.into_iter().map(brought).collect(),
    })
}

pub(super) fn trust(host: &Host, params: &ProjectsTrustParams) -> Result<ProjectRow, RpcError> {
    let project = folder("projects.trust", &params.path)?;
    if host.env().depth() > 0 && params.decision == TrustDecision::Trust {
        let text = "an agent's command cannot trust anything";
        return Err(RpcError::new(ErrorKind::Managed, text)
            .hint("run `ostler trust` in a terminal of your own"));
    }
    let store = host.store();
    let current = store.trust_state(&project).1;
    if current != params.hash {
        let text = format!("`{project}` changed since it was shown");
        return Err(RpcError::new(ErrorKind::Stale, text)
            .with("current", current)
            .hint("read `projects.trustReport` again and decide about what is there now"));
    }
    let done = match params.decision {
        TrustDecision::Trust => store.trust(&project, &params.hash),
        TrustDecision::Deny => store.deny_trust(&project, &params.hash),
        TrustDecision::Revoke => store.revoke_trust(&project),
    };
    done.map_err(|error| storage_error(&error))?;
    let known = list(host)?.into_iter().find(|row| row.path == params.path);
    Ok(known.unwrap_or_else(|| row(host, params.path.clone())))
}

fn folder(method: &str, path: &str) -> Result<AbsPath, RpcError> {
    let found = AbsPath::new(path).ok().filter(|path| path.as_path().is_dir());
    found.ok_or_else(|| {
        let text = format!("{method}: `path`: `{path}` is not the absolute path of a folder");
        RpcError::new(ErrorKind::Usage, text).code(-32602)
    })
}

fn state_of(state: ostler_store::TrustState) -> TrustState {
    match state {
        ostler_store::TrustState::Trusted => TrustState::Yes,
        ostler_store::TrustState::Untrusted => TrustState::No,
        ostler_store::TrustState::Changed => TrustState::Changed,
        ostler_store::TrustState::Denied => TrustState::Denied,
    }
}

fn brought(brought: ostler_store::Brought) -> Brought {
    use ostler_store::BroughtKind as Kind;
    Brought {
        kind: match brought.kind {
            Kind::Hook => BroughtKind::Hook,
            Kind::Mcp => BroughtKind::Mcp,
            Kind::Env => BroughtKind::Env,
            Kind::Endpoint => BroughtKind::Endpoint,
            Kind::Rule => BroughtKind::Rule,
            Kind::Command => BroughtKind::Command,
            Kind::Plugin => BroughtKind::Plugin,
            Kind::Mode => BroughtKind::Mode,
        },
        text: brought.text,
        file: brought.file.to_string_lossy().into_owned(),
        line: u32::try_from(brought.line).ok().filter(|line| *line > 0),
        loosens: brought.loosens,
    }
}
