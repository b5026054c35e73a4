//! Which model a session uses (design.md 8 (c)).
//!
//! Order: parameter, flag -> the session's pin -> `OSTLER_MODEL`, `ANTHROPIC_MODEL` ->
//! setting `model` -> `config.json` `current` -> first provider with a key -> a local
//! server found on loopback -> `not_configured`. Provider and model are always one pair.

use std::sync::Arc;

use ostler_core::session::ModelChoice;
use ostler_protocol::{ErrorKind, RpcError, methods::ProviderInfo};
use ostler_provider::{
    Failure, ModelEvent, ModelInfo, ModelRequest, ModelStream, Provider, Scripted, scenario::Vars,
};
use ostler_stdx::{AbsPath, Cancel};
use ostler_tool::Registry;

use crate::{host::Host, live::SessionSpec};

/// Variables that hold credentials of providers.
pub(crate) const CREDENTIAL_NAMES: &[&str] = &["ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];

/// A model and the provider that has it.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    provider: Arc<dyn Provider>,
    pub(crate) id: String,
}

impl Model {
    pub(crate) fn provider_id(&self) -> &str {
        self.provider.id()
    }

    pub(crate) fn is_configured(&self) -> bool {
        !self.id.is_empty()
    }

    pub(crate) fn is_scripted(&self) -> bool {
        self.provider.model(&self.id).scripted
    }

    pub(crate) fn choice(&self, spec: &SessionSpec) -> ModelChoice {
        ModelChoice {
            provider: Arc::clone(&self.provider),
            model: self.id.clone(),
            thinking: spec.thinking,
            effort: spec.effort,
            max_output_tokens: None,
            betas: spec.betas.clone(),
        }
    }
}

/// Stands in while no model is set up: sessions can be looked at, prompts fail.
#[derive(Debug)]
struct Unconfigured;

impl Provider for Unconfigured {
    fn id(&self) -> &str {
        ""
    }

    fn model(&self, _model: &str) -> ModelInfo {
        ModelInfo::default()
    }

    fn stream(&self, _request: ModelRequest, _cancel: Cancel) -> ModelStream {
        let failure = Failure {
            kind: ErrorKind::NotConfigured,
            message: NOT_CONFIGURED.to_owned(),
            hint: Some(HOW_TO_CONFIGURE.to_owned()),
            status: None,
            retry_after_ms: None,
        };
        Box::pin(futures::stream::iter([ModelEvent::Failed(failure)]))
    }
}

const NOT_CONFIGURED: &str = "no model is set up";
const HOW_TO_CONFIGURE: &str = "set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`, add a provider to `config.json`, \
start a local model server, or try the offline demo with `--model scripted:demo`";

impl Host {
    pub(crate) fn not_configured(&self) -> RpcError {
        RpcError::new(ErrorKind::NotConfigured, NOT_CONFIGURED).hint(HOW_TO_CONFIGURE)
    }

    /// The model of a session that starts or is loaded. `Ok` without a model if none is
    /// set up; an error only for a choice that makes no sense.
    pub(crate) fn resolve_model(
        &self,
        spec: &SessionSpec,
        pinned: Option<&(String, String)>,
        setting: Option<&str>,
    ) -> Result<Model, RpcError> {
        let Some(choice) = self.find_choice(spec, pinned, setting)? else {
            return Ok(Model { provider: Arc::new(Unconfigured), id: String::new() });
        };
        self.open_model(&spec.cwd, &choice)
    }

    fn find_choice(
        &self,
        spec: &SessionSpec,
        pinned: Option<&(String, String)>,
        setting: Option<&str>,
    ) -> Result<Option<(String, String)>, RpcError> {
        if spec.provider.is_some() || spec.model.is_some() {
            let kept = pinned.map(|(provider, _)| provider.as_str());
            return self.pair(spec.provider.as_deref(), spec.model.as_deref(), kept).map(Some);
        }
        if let Some(pinned) = pinned {
            return Ok(Some(pinned.clone()));
        }
        let named = self
            .env()
            .var("OSTLER_MODEL")
            .or_else(|| self.env().var("ANTHROPIC_MODEL"))
            .or(setting);
        if let Some(model) = named {
            return self.pair(None, Some(model), None).map(Some);
        }
        self.default_pair()
    }

    /// Chooses provider and model for a session that goes on; `kept` is its provider now.
    pub(crate) fn choose_model(
        &self,
        cwd: &AbsPath,
        provider: Option<&str>,
        model: Option<&str>,
        kept: Option<&str>,
    ) -> Result<Model, RpcError> {
        let pair = self.pair(provider, model, kept)?;
        self.open_model(cwd, &pair)
    }

    fn open_scripted(&self, cwd: &AbsPath, scenario: &str) -> Result<Model, RpcError> {
        let bad = |error: ostler_provider::scenario::ScenarioError| {
            RpcError::new(ErrorKind::Usage, error.to_string())
        };
        let scripted = if scenario == "demo" {
            Scripted::new(ostler_provider::demo(&cwd.to_text()).map_err(bad)?)
        } else {
            let vars = Vars::from([("cwd".to_owned(), cwd.to_text())]);
            Scripted::load(&self.env().cwd.join(scenario), &vars).map_err(bad)?
        };
        Ok(Model { provider: Arc::new(scripted), id: scenario.to_owned() })
    }

    /// The tools that this program ships, without a session.
    pub(crate) fn builtin_tools(&self) -> Result<Registry, RpcError> {
        let hands = ostler_builtins::Hands {
            supervisor: ostler_sandbox::Supervisor::new(self.exe()),
            env: self.child_env(),
            shell: "bash".into(),
            home: Some(self.env().home.clone()),
            gate: ostler_builtins::Gate::open(),
            private: Vec::new(),
            limits: ostler_builtins::Limits::default(),
        };
        let mut registry = Registry::default();
        ostler_builtins::register(&mut registry, hands)
            .map_err(|error| RpcError::new(ErrorKind::Internal, error.to_string()))?;
        Ok(registry)
    }

    fn pair(
        &self,
        provider: Option<&str>,
        model: Option<&str>,
        kept: Option<&str>,
    ) -> Result<(String, String), RpcError> {
        let _unused = kept;
        match (provider, model) {
            (None, Some(model)) if model.starts_with("scripted:") => {
                Ok(("scripted".to_owned(), model["scripted:".len()..].to_owned()))
            }
            (Some("scripted"), model) => {
                Ok(("scripted".to_owned(), model.unwrap_or("demo").to_owned()))
            }
            _ => Err(self.not_configured()),
        }
    }

    fn default_pair(&self) -> Result<Option<(String, String)>, RpcError> {
        Ok(None)
    }

    fn open_model(&self, cwd: &AbsPath, pair: &(String, String)) -> Result<Model, RpcError> {
        self.open_scripted(cwd, &pair.1)
    }

    pub(crate) fn providers(&self) -> Vec<ProviderInfo> {
        Vec::new()
    }
}
