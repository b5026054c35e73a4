//! What the built-in tools are given: processes, environment, folders and limits.

use std::{collections::BTreeMap, ffi::OsString, sync::Arc};

use ostler_builtins::{Gate, Hands, Limits, Proxies, SearchEngine, Shelter, WebSettings};
use ostler_sandbox::{
    Decide, Domains, Folders, LazySandbox, ProbeOptions, SandboxOptions, SandboxSettings,
    Supervisor,
};
use ostler_stdx::AbsPath;

use crate::{env::Environment, host::Host, live::SessionSpec};

/// The hands of a session's tools.
pub(crate) fn hands(
    host: &Host,
    env: BTreeMap<OsString, OsString>,
    supervisor: Supervisor,
    gate: Gate,
    session_id: &str,
) -> Hands {
    let home = &host.env().roots.home;
    Hands {
        supervisor,
        env,
        shell: "bash".into(),
        home: Some(host.env().home.clone()),
        gate,
        private: vec![home.clone()],
        tasks: home.join("tasks").join(session_id),
        web: web(host.env()),
        shelter: None,
        limits: Limits::default(),
    }
}

/// The sandbox of a session, if the settings ask for one; made at first use.
pub(crate) fn shelter(
    host: &Host,
    spec: &SessionSpec,
    settings: &SandboxSettings,
    (deny_read, globs): (Vec<AbsPath>, &[String]),
    supervisor: &Supervisor,
    session_id: &str,
) -> Option<Shelter> {
    let own = &host.env().roots.home;
    let temp = own.join("tasks").join(session_id).join("tmp");
    let folders = Folders {
        project: spec.cwd.clone(),
        extra: spec.extra_dirs.clone(),
        home: host.env().home.clone(),
        temp,
        own: vec![own.clone()],
        allow_write: Vec::new(),
        deny_write: Vec::new(),
        deny_read,
    };
    let network = &settings.network;
    let domains = Domains {
        allowed: network.allowed_domains.clone(),
        denied: network.denied_domains.clone(),
    };
    let options = SandboxOptions {
        policy: settings.policy(&folders),
        probe: ProbeOptions {
            exe: host.exe(),
            bwrap: settings.bwrap_path.as_ref().map(Into::into),
            weaker: settings.enable_weaker_nested_sandbox,
            without_bwrap: false,
        },
        // What no list speaks of is refused: nobody can be asked in the middle of a command.
        decide: Some(Decide::new(move |host, _| domains.judge(host).unwrap_or(false))),
    };
    let sandbox = Arc::new(LazySandbox::new(supervisor.clone(), options));
    let globs = [globs, &settings.denied_globs(&folders)].concat();
    Shelter::new(settings, sandbox, &globs)
}

/// How the web tools reach the network: proxies and search engine as the environment
/// names them.
fn web(env: &Environment) -> WebSettings {
    let var = |name: &str| env.var(name).or_else(|| env.var(&name.to_ascii_lowercase()));
    let brave = env.var("BRAVE_API_KEY").map(|key| SearchEngine::Brave {
        key: key.into(),
        base_url: env.var("BRAVE_BASE_URL").map(str::to_owned),
    });
    let searxng = env
        .var("OSTLER_SEARXNG_URL")
        .map(|url| SearchEngine::Searxng { base_url: url.trim_end_matches('/').to_owned() });
    WebSettings {
        proxies: Proxies {
            http: var("HTTP_PROXY").map(str::to_owned),
            https: var("HTTPS_PROXY").map(str::to_owned),
            no_proxy: var("NO_PROXY").unwrap_or_default().to_owned(),
        },
        search: searxng.or(brave),
        ..WebSettings::default()
    }
}
