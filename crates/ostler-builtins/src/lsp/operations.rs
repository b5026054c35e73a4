//! One call: which server, what it is told and asked, and how often. Waits no longer than
//! the limits, and tells why there is no answer.

use std::{sync::Arc, time::Duration};

use ostler_stdx::AbsPath;
use ostler_tool::{ToolCx, ToolError, ToolOutput};
use serde_json::{Value, json};

use crate::{
    files::blocking,
    hands::Hands,
    lsp::{
        Args, Operation, answers,
        client::{Client, Failure},
        documents::Source,
        languages::{LANGUAGES, Language},
        position::{Lines, find, units},
        servers::Servers,
    },
};

/// How long after what a server published last it counts as all.
const SETTLED: Duration = Duration::from_millis(400);
/// Answers that say "ask again", which are asked again.
const AGAIN: [i64; 2] = [-32801, -32802];

/// "Method not found".
const UNKNOWN: i64 = -32601;

/// One call.
pub(super) struct Call<'a> {
    pub(super) args: Args,
    pub(super) file: Option<AbsPath>,
    pub(super) hands: &'a Hands,
    pub(super) servers: &'a Servers,
    pub(super) cx: &'a ToolCx,
}

/// A source file, what the protocol calls its language, and the position in it.
struct Target {
    source: Source,
    id: &'static str,
    /// Line and UTF-16 unit, from 0.
    position: (u64, u64),
}

/// What a server answered.
pub(super) struct Answered {
    pub(super) result: Value,
    pub(super) file: Option<AbsPath>,
    pub(super) server: String,
    /// What it was still at work at.
    pub(super) busy: Option<String>,
    /// It gave no sign of having looked at the file.
    pub(super) silent: bool,
}

impl Call<'_> {
    pub(super) async fn run(&self) -> Result<ToolOutput, ToolError> {
        let (language, target) = match (&self.file, self.args.operation) {
            (None, Operation::WorkspaceSymbol) => (self.project_language()?, None),
            (None, _) => return Err(invalid("filePath is needed: name the source file")),
            (Some(file), operation) => {
                let (language, id) = Language::of(file).ok_or_else(|| unknown(file))?;
                let target = match operation {
                    Operation::WorkspaceSymbol => None,
                    _ => Some(self.target(file, id).await?),
                };
                (language, target)
            }
        };
        if self.args.operation == Operation::WorkspaceSymbol
            && self.args.query.as_deref().is_none_or(str::is_empty)
        {
            return Err(invalid("query is needed: name what to look for, or a part of it"));
        }
        let at = self.file.as_ref().unwrap_or(&self.cx.cwd);
        let root = match self.servers.started(language, at) {
            Some(root) => root,
            None if self.file.is_none() => self.cx.cwd.clone(),
            None => language.root(at, &self.cx.cwd),
        };
        let answered = self.answer(language, &root, target.as_ref()).await?;
        let (operation, hands, cwd) =
            (self.args.operation, self.hands.clone(), self.cx.cwd.clone());
        blocking(self.cx, move || Ok(answers::report(operation, answered, &hands, &cwd))).await
    }

    /// Asks; once more if the server ended over it.
    async fn answer(
        &self,
        language: &'static Language,
        root: &AbsPath,
        target: Option<&Target>,
    ) -> Result<Answered, ToolError> {
        let mut tries = 2;
        loop {
            tries -= 1;
            let client = self.servers.get(language, root, self.hands, self.cx).await?;
            let failure = match self.ask(&client, target).await {
                Ok(answered) => return Ok(answered),
                Err(failure) => failure,
            };
            match &failure {
                Failure::Ended(_) if tries > 0 => continue,
                Failure::TimedOut(_) if client.busy().is_none() => {
                    self.servers.give_up(language, root).await;
                }
                _ => {}
            }
            if matches!(failure, Failure::Refused { code: UNKNOWN, .. }) {
                return Err(ToolError::Tell(format!(
                    "{} cannot answer this operation: use Grep and Read",
                    client.name
                )));
            }
            let busy = client.busy().map(|work| format!(" (it is still at work: {work})"));
            return Err(ToolError::Tell(format!(
                "{}: {failure}{}; ask again, or use Grep and Read",
                client.name,
                busy.unwrap_or_default()
            )));
        }
    }

    async fn ask(
        &self,
        client: &Arc<Client>,
        target: Option<&Target>,
    ) -> Result<Answered, Failure> {
        let opened = target.map(|target| (&target.source, target.id));
        let changed = client.documents.lock().await.sync(client, opened, self.hands).await?;
        self.wait_for_project(client).await;
        let (result, silent) = match (self.args.operation, target) {
            (Operation::Diagnostics, Some(target)) => {
                self.diagnostics(client, &target.source, changed).await?
            }
            (operation, target) => {
                let (method, params) = self.request(operation, target);
                (self.request_again(client, method, params).await?, false)
            }
        };
        Ok(Answered {
            result,
            file: target.map(|target| target.source.real.clone()),
            server: client.name.clone(),
            busy: client.busy(),
            silent,
        })
    }

    fn request(&self, operation: Operation, target: Option<&Target>) -> (&'static str, Value) {
        let Some(target) = target else {
            return ("workspace/symbol", json!({"query": self.args.query}));
        };
        let document = json!({"uri": super::uri(&target.source.real)});
        let (line, character) = target.position;
        let mut params =
            json!({"textDocument": document, "position": {"line": line, "character": character}});
        let method = match operation {
            Operation::Hover => "textDocument/hover",
            Operation::Definition => "textDocument/definition",
            Operation::References => {
                params["context"] = json!({"includeDeclaration": true});
                "textDocument/references"
            }
            _ => return ("textDocument/documentSymbol", json!({"textDocument": document})),
        };
        (method, params)
    }

    /// A server whose project changed under the request wants to be asked again.
    async fn request_again(
        &self,
        client: &Client,
        method: &str,
        params: Value,
    ) -> Result<Value, Failure> {
        for _ in 0..3 {
            match client.request(method, params.clone()).await {
                Err(Failure::Refused { code, .. }) if AGAIN.contains(&code) => {}
                done => return done,
            }
        }
        client.request(method, params).await
    }

    /// Right after its start a server reads the project; what it answers before it is
    /// done is often nothing.
    async fn wait_for_project(&self, client: &Client) {
        if let Some(work) = client.busy() {
            self.cx.progress.report(0, &format!("{} is at work: {work}", client.name));
            let idle = |client: &Client| client.busy().is_none().then_some(());
            client.wait_for(client.limit(), idle).await;
        }
    }

    /// Errors and warnings, asked for where the server answers that, else as it
    /// publishes them; and whether it published none.
    async fn diagnostics(
        &self,
        client: &Client,
        source: &Source,
        changed: bool,
    ) -> Result<(Value, bool), Failure> {
        if !client.capabilities["diagnosticProvider"].is_null() {
            let params = json!({"textDocument": {"uri": super::uri(&source.real)}});
            let report = self.request_again(client, "textDocument/diagnostic", params).await?;
            return Ok((report["items"].clone(), false));
        }
        let published = |client: &Client| client.published(&source.real);
        let Some(mut latest) = client.wait_for(client.limit(), published).await else {
            return match client.ended() {
                Some((why, _)) => Err(Failure::Ended(why)),
                None => Ok((json!([]), true)),
            };
        };
        // Several passes publish one after another.
        if changed {
            let newer = |client: &Client, old: &[Value]| {
                client.published(&source.real).filter(|now| now != old)
            };
            while let Some(next) = client.wait_for(SETTLED, |client| newer(client, &latest)).await {
                latest = next;
            }
        }
        Ok((Value::Array(latest), false))
    }

    /// Reads the file and finds the position in it.
    async fn target(&self, file: &AbsPath, id: &'static str) -> Result<Target, ToolError> {
        let (path, hands, args) = (file.clone(), self.hands.clone(), self.args.clone());
        blocking(self.cx, move || {
            let source = Source::read(&path, &hands)?;
            let needs = matches!(
                args.operation,
                Operation::Hover | Operation::Definition | Operation::References
            );
            let position = if needs { position(&args, &source.text)? } else { (0, 0) };
            Ok(Target { source, id, position })
        })
        .await
    }

    /// The language whose server is asked about the whole project.
    fn project_language(&self) -> Result<&'static Language, ToolError> {
        let cwd = &self.cx.cwd;
        let started = LANGUAGES.iter().find(|one| self.servers.started(one, cwd).is_some());
        let marked = |one: &&Language| one.markers.iter().any(|name| cwd.join(name).exists());
        let served = |one: &&Language| !one.commands(&self.hands.env).is_empty();
        let all = || LANGUAGES.iter().filter(marked);
        started.or_else(|| all().find(served)).or_else(|| all().next()).ok_or_else(|| {
            ToolError::Tell(format!(
                "`{cwd}` is not the root of a project that is known: give filePath, any file of the language that is meant"
            ))
        })
    }
}

fn position(args: &Args, text: &str) -> Result<(u64, u64), ToolError> {
    let Some(line) = args.line.filter(|line| *line > 0) else {
        return Err(invalid("line is needed: give the line of the position, from 1"));
    };
    let lines = Lines::new(text);
    let Some(shown) = lines.get(line - 1) else {
        return Err(invalid(&format!("line {line} is not there: the file has {}", lines.count())));
    };
    let character = match (args.character, args.query.as_deref()) {
        (Some(character), _) => character.max(1),
        (None, Some(name)) => find(shown, name).ok_or_else(|| {
            invalid(&format!("`{name}` is not on line {line}, which is: {}", shown.trim()))
        })?,
        (None, None) => {
            return Err(invalid(
                "character is needed, or in its place query: the name that stands on that line",
            ));
        }
    };
    Ok((line - 1, units(shown, character)))
}

fn invalid(text: &str) -> ToolError {
    ToolError::Invalid(format!("LSP: {text}"))
}

fn unknown(file: &AbsPath) -> ToolError {
    let names: Vec<_> = LANGUAGES.iter().map(|language| language.name).collect();
    ToolError::Tell(format!(
        "no language server is known for `{file}`: there are some for {}; use Grep and Read",
        names.join(", ")
    ))
}
