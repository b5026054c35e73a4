//! What `ostler doctor` looks at: whether this machine and these settings are what a
//! session needs. Looks only; changes nothing but makes the home folder, as a session would.

use std::path::Path;

use ostler_protocol::RpcError;
use ostler_sandbox::{
    Claim, LazySandbox, Network, Policy, ProbeOptions, SandboxOptions, Supervisor,
};
use serde::Serialize;

use crate::{host::Host, live::SessionSpec};

/// How something that was looked at is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// As it should be.
    Good,
    /// It works, but less than it could.
    Weak,
    /// It does not work.
    Bad,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at.
    pub what: &'static str,
    /// How it is.
    pub health: Health,
    /// What was found.
    pub found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Finding {
    fn new(what: &'static str, health: Health, found: impl Into<String>) -> Self {
        Self { what, health, found: found.into(), hint: None }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl Host {
    /// Looks at home, settings, model, programs and sandbox, in this order.
    pub async fn doctor(&self) -> Vec<Finding> {
        let spec = SessionSpec::new(self.env().cwd.clone());
        let settings = crate::settings::load(self, &spec);
        let mut findings = vec![self.home()];
        findings.extend(
            settings.warnings.iter().map(|text| Finding::new("settings", Health::Weak, text)),
        );
        findings.push(model(self.resolve_model(&spec, None, settings.model.as_deref()).map(
            |model| (format!("{}/{}", model.provider_id(), model.id), model.problem().cloned()),
        )));
        findings.extend(["git", "bash"].map(|name| self.program(name)));
        let supervisor = Supervisor::new(self.exe());
        findings.extend(self.sandbox(&supervisor, settings.sandbox.enabled).await);
        supervisor.shutdown().await;
        findings
    }

    fn home(&self) -> Finding {
        let home = &self.env().roots.home;
        let probe = home.join(".doctor");
        let tried = std::fs::create_dir_all(home)
            .and_then(|()| std::fs::write(&probe, b"x"))
            .and_then(|()| std::fs::remove_file(&probe));
        match tried {
            Ok(()) => Finding::new("home", Health::Good, format!("`{home}` can be written")),
            Err(error) => Finding::new("home", Health::Bad, format!("`{home}`: {error}")).hint(
                "sessions are kept there: mend the folder, or name another one in `OSTLER_HOME`",
            ),
        }
    }

    fn program(&self, name: &'static str) -> Finding {
        let path = self.env().var("PATH").unwrap_or_default();
        let found =
            path.split(':').map(|folder| Path::new(folder).join(name)).find(|at| at.is_file());
        match found {
            Some(at) => Finding::new(name, Health::Good, at.display().to_string()),
            None => Finding::new(name, Health::Weak, "not on the path")
                .hint(format!("install it: tools that use `{name}` do less without it")),
        }
    }

    async fn sandbox(&self, supervisor: &Supervisor, enabled: bool) -> Vec<Finding> {
        let temp = self.env().roots.home.join("tasks/doctor/tmp");
        let policy = Policy {
            write: vec![self.env().cwd.clone()],
            project: Some(self.env().cwd.clone()),
            temp: Some(temp),
            files_confined: true,
            network: Network::Closed,
            ..Policy::default()
        };
        let probe = ProbeOptions { exe: self.exe(), ..ProbeOptions::default() };
        let lazy =
            LazySandbox::new(supervisor.clone(), SandboxOptions { policy, probe, decide: None });
        let use_of = if enabled { "in use" } else { "not in use: `sandbox.enabled` is not set" };
        match lazy.get().await {
            Ok(sandbox) => {
                let text = format!("{} ({use_of})", sandbox.level());
                let mut level = Finding::new("sandbox", Health::Good, text);
                if !sandbox.why_not().is_empty() {
                    level.health = Health::Weak;
                    level = level.hint(sandbox.why_not().join("; "));
                }
                let claims = sandbox.claims().into_iter().map(claim);
                std::iter::once(level).chain(claims).collect()
            }
            Err(why) => {
                let health = if enabled { Health::Bad } else { Health::Weak };
                vec![
                    Finding::new("sandbox", health, format!("none: {why}"))
                        .hint("install bubblewrap, or use a kernel with Landlock"),
                ]
            }
        }
    }
}

fn claim(claim: Claim) -> Finding {
    let holds = if claim.holds { "yes" } else { "no" };
    let text = match claim.note {
        "" => format!("{}: {holds}", claim.what),
        note => format!("{}: {holds}, {note}", claim.what),
    };
    Finding::new("sandbox", if claim.holds { Health::Good } else { Health::Weak }, text)
}

fn model(found: Result<(String, Option<RpcError>), RpcError>) -> Finding {
    match found {
        Ok((name, None)) => Finding::new("model", Health::Good, name),
        Ok((_, Some(problem))) | Err(problem) => {
            let hint = problem.data.get("hint").and_then(|hint| hint.as_str()).map(str::to_owned);
            let finding = Finding::new("model", Health::Bad, problem.message);
            hint.map_or(finding.clone(), |hint| finding.hint(hint))
        }
    }
}
