//! What the built-in tools are given: processes, environment, folders and limits.

use ostler_builtins::{Gate, Hands, Limits};
use ostler_sandbox::Supervisor;

use crate::host::Host;

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
        web: ostler_builtins::WebSettings::default(),
        limits: Limits::default(),
    }
}
