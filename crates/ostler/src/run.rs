//! `ostler run` and `ostler -p`: one prompt, its answer, the end.

mod output;
mod tasks;
mod words;

use std::{
    io::{IsTerminal as _, Read as _},
    sync::Arc,
};

use ostler_host::{
    Host, LiveSession, Prompt, PromptReply, RunEnd, RunReason, SessionEvent, SessionSpec, Surface,
    SystemPrompt,
    outlet::{Outlet, Slow},
    split_rule_list,
};
use ostler_protocol::{ErrorKind, Mode, RpcError, SessionId, conversation::ToolResultContent};
use ostler_stdx::SystemClock;

use crate::{
    args::{OutputFormat, RunArgs},
    exit::{self, Exit},
    open_host, runtime,
    signals::{Signals, Told},
    terminal::{self, Said},
};
use output::Output;
use tasks::Tasks;

/// Answers one prompt. `print`: in Claude's spelling, with the exit codes 0 and 1 alone.
pub(crate) fn run(args: RunArgs, print: bool) -> Exit {
    let exit = match prompt_text(&args) {
        Ok(prompt) => run_prompt(args, prompt, print),
        Err(exit) => exit,
    };
    match exit {
        Exit::Usage | Exit::Provider if print => Exit::Failed,
        exit => exit,
    }
}

/// The words of the command line, then what comes on standard input.
fn prompt_text(args: &RunArgs) -> Result<String, Exit> {
    let mut text = args.prompt.join(" ");
    if !std::io::stdin().is_terminal() {
        let mut input = Vec::new();
        if let Err(error) = std::io::stdin().lock().read_to_end(&mut input) {
            return Err(exit::fail(
                Exit::Failed,
                &format!("cannot read standard input: {error}"),
                None,
            ));
        }
        let input = String::from_utf8_lossy(&input);
        if !input.trim().is_empty() {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&input);
        }
    }
    if text.trim().is_empty() {
        let hint = "give it as words, `ostler run \"...\"`, or on standard input";
        return Err(exit::fail(Exit::Usage, "there is no prompt", Some(hint)));
    }
    Ok(text)
}

fn run_prompt(args: RunArgs, prompt: String, print: bool) -> Exit {
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return exit::fail(Exit::Failed, &error.to_string(), None),
    };
    let host = open_host(None);
    let exit = runtime.block_on(async {
        let exit = Box::pin(answer(&host, &args, prompt, print)).await;
        host.shutdown().await;
        exit
    });
    // A thread that waits for the terminal must not hold the process.
    runtime.shutdown_background();
    exit
}

async fn answer(host: &Host, args: &RunArgs, prompt: String, print: bool) -> Exit {
    let session = match open_session(host, args).await {
        Ok(session) => session,
        Err(error) => return exit::rpc(&error),
    };
    let mut output = Output::new(&session, args, print);
    output.warn(&session.warnings);
    match session.check_sandbox().await {
        Ok(warning) => output.warn(warning.as_slice()),
        Err(error) => return exit::rpc(&error),
    }
    if let Some(problem) = session.model_problem() {
        return exit::rpc(&problem);
    }
    let events = Outlet::new(Slow::Wait);
    session.hub.raw(events.clone());
    let lines =
        (args.output_format == OutputFormat::Events).then(|| host.attach("run", Slow::Wait, true));
    let prompt = Prompt {
        uuid: None,
        content: ToolResultContent::Text(prompt),
        at_ms: now_ms(),
        client_id: None,
        origin: None,
        note: false,
    };
    match session.prompt(prompt).await {
        Ok(PromptReply::Started(_)) => {}
        Ok(PromptReply::Queued(_) | PromptReply::Full) | Err(_) => {
            return exit::fail(
                Exit::Failed,
                "the session is busy",
                Some("wait for its run, or start another session"),
            );
        }
    }
    let mut signals = match Signals::new() {
        Ok(signals) => signals,
        Err(error) => return exit::fail(Exit::Failed, &error.to_string(), None),
    };
    let mut told = None;
    let mut tasks = Tasks::new(host);
    let end = loop {
        let event = tokio::select! {
            event = events.next() => event,
            () = tasks.late() => break tasks.end.take(),
            signal = signals.next() => {
                // The second signal no longer waits for tools to end.
                if told.replace(signal).is_some() || tasks.end.is_some() {
                    break tasks.end.take();
                }
                session.handle.interrupt(true).await;
                continue;
            }
        };
        let Some(event) = event else { break None };
        let mut written = output.event(&event);
        if let Some(lines) = &lines {
            while let Some(published) = lines.events.try_next() {
                written = written.and_then(|()| output.line(&published.json));
            }
        }
        // More is on its way: write it in one piece.
        if events.is_empty() {
            written = written.and_then(|()| output.flush());
        }
        if let Err(exit) = written {
            return exit;
        }
        match &*event {
            SessionEvent::Asked(asked) => ask(&session, asked),
            event => {
                if tasks.ended_by(event) || (told.is_some() && tasks.end.is_some()) {
                    break tasks.end.take();
                }
                output.warn(tasks.news().as_slice());
            }
        }
    };
    finish(output, end.as_ref(), told)
}

/// Asks on a thread of its own, so that events and signals go on.
fn ask(session: &Arc<LiveSession>, asked: &ostler_host::core::AskedEvent) {
    let (session, asked) = (Arc::clone(session), asked.clone());
    tokio::spawn(async move {
        let question = asked.clone();
        let Ok(said) = tokio::task::spawn_blocking(move || terminal::ask(&question)).await else {
            return;
        };
        let done = match said {
            Said::Decision(decision) => session.decide(&asked.request_id, None, decision).await,
            Said::Answer(answer) => {
                session.answer_with(&asked.request_id, &[], answer).await.map(|_| ())
            }
        };
        let Err(error) = done else { return };
        exit::rpc(&error);
        // A rule that could not be kept: the request still waits, and a yes is not lost.
        if error.code != ErrorKind::AlreadyResolved.code() {
            ask(&session, &asked);
        }
    });
}

fn finish(output: Output, end: Option<&RunEnd>, told: Option<Told>) -> Exit {
    let written = output.end(end);
    match told {
        Some(Told::Interrupt) => return Exit::Interrupted,
        Some(Told::Terminate) => return Exit::Terminated,
        None => {}
    }
    if written != Exit::Ok {
        return written;
    }
    match end.map(|end| (end.reason, &end.failure)) {
        Some((reason, _)) if reason.is_success() => Exit::Ok,
        Some((RunReason::Failed, Some(failure))) => Exit::of(failure.kind),
        _ => Exit::Failed,
    }
}

async fn open_session(host: &Host, args: &RunArgs) -> Result<Arc<LiveSession>, RpcError> {
    let spec = spec(host, args)?;
    if let Some(id) = &args.session {
        return host.resume(&SessionId::from(id.as_str()), spec).await;
    }
    if args.continue_
        && let Some(id) = host.newest(&spec.cwd)
    {
        return host.resume(&id, spec).await;
    }
    host.start(spec)
}

fn spec(host: &Host, args: &RunArgs) -> Result<SessionSpec, RpcError> {
    let mut spec = SessionSpec::new(host.env().cwd.clone());
    "cli".clone_into(&mut spec.entrypoint);
    spec.id = args.session_id.as_deref().map(SessionId::from);
    spec.model.clone_from(&args.model);
    spec.mode =
        if args.dangerously_skip_permissions { Some(Mode::BypassPermissions) } else { args.mode };
    spec.system = system_prompt(host, args)?;
    spec.tools = args.tools.as_ref().filter(|tools| *tools != "default").map(|tools| names(tools));
    for rule in args.allowed_tools.iter().flat_map(|list| split_rule_list(list)) {
        spec.rules.push((ostler_host::Behavior::Allow, rule));
    }
    for rule in args.disallowed_tools.iter().flat_map(|list| split_rule_list(list)) {
        if !rule.contains('(') {
            spec.without_tools.push(rule.clone());
        }
        spec.rules.push((ostler_host::Behavior::Deny, rule));
    }
    spec.extra_dirs = args.add_dir.iter().map(|dir| host.env().cwd.join(dir)).collect();
    spec.setting_sources = args.setting_sources.as_ref().map(|sources| names(sources));
    let overlay = |flag: &str, given: &Option<String>| {
        let given = given.as_deref();
        given.map(|text| ostler_host::settings_overlay(&host.env().cwd, flag, text)).transpose()
    };
    spec.settings = overlay("--settings", &args.settings)?;
    spec.managed_settings = overlay("--managed-settings", &args.managed_settings)?;
    spec.trust = args.trust;
    spec.max_responses = args.max_turns;
    spec.surface = if terminal::is_interactive() { Surface::Door } else { Surface::NoOne };
    spec.projected = args.output_format == OutputFormat::Events;
    Ok(spec)
}

fn names(list: &str) -> Vec<String> {
    list.split([',', ' '])
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

fn system_prompt(host: &Host, args: &RunArgs) -> Result<SystemPrompt, RpcError> {
    let custom = match (&args.system_prompt, &args.system_prompt_file) {
        (Some(text), _) => Some(text.clone()),
        (None, Some(file)) => {
            let path = host.env().cwd.join(file);
            let text = std::fs::read_to_string(path.as_path()).map_err(|error| {
                RpcError::new(
                    ErrorKind::Usage,
                    format!("cannot read the system prompt `{path}`: {error}"),
                )
            })?;
            Some(text)
        }
        (None, None) => None,
    };
    let append = args.append_system_prompt.clone();
    Ok(match (custom, append) {
        (Some(text), append) => SystemPrompt::Custom { blocks: vec![text], stable: None, append },
        (None, Some(text)) => SystemPrompt::Append(text),
        (None, None) => SystemPrompt::Default,
    })
}

fn now_ms() -> i64 {
    ostler_stdx::Clock::now_ms(&SystemClock)
}
