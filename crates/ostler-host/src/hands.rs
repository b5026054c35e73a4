//! What the built-in tools are given: processes, environment, folders and limits.

use ostler_builtins::{Gate, Hands, Limits, Proxies, SearchEngine, WebSettings};
use ostler_sandbox::Supervisor;

use crate::{env::Environment, host::Host};

/// The hands of a session's tools.
pub(crate) fn hands(host: &Host, supervisor: Supervisor, gate: Gate, session_id: &str) -> Hands {
    let home = &host.env().roots.home;
    Hands {
        supervisor,
        env: host.child_env(),
        shell: "bash".into(),
        home: Some(host.env().home.clone()),
        gate,
        private: vec![home.clone()],
        tasks: home.join("tasks").join(session_id),
        web: web(host.env()),
        limits: Limits::default(),
    }
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
