//! Which model a session uses (design.md 8 (c)).
//!
//! Order: parameter, flag -> the session's pin -> `OSTLER_MODEL`, `ANTHROPIC_MODEL` ->
//! setting `model` -> `config.json` `current` -> first provider with a key -> a local
//! server found on loopback -> `not_configured`. Provider and model are always one pair.

mod local;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use ostler_core::session::ModelChoice;
use ostler_protocol::{ErrorKind, RpcError, methods::ProviderInfo};
use ostler_provider::{
    Failure, KeyHeader, ModelEvent, ModelInfo, ModelRequest, ModelStream, Provider, ProviderConfig,
    Scripted, Timeouts, Wire,
    catalogue::{self, Choice, Known, Unresolved},
    scenario::Vars,
};
use ostler_stdx::{AbsPath, Cancel};
use ostler_store::Config;
use ostler_tool::Registry;
use secrecy::SecretString;

use crate::{host::Host, live::SessionSpec};

/// Variables that hold credentials of providers.
pub(crate) const CREDENTIAL_NAMES: &[&str] = &["ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];

/// Whether a variable holds a key of a model's vendor.
pub(crate) fn is_vendor_key(name: &str) -> bool {
    let own = |id: &str| format!("{}_API_KEY", id.to_ascii_uppercase().replace('-', "_"));
    let holds = |row: &catalogue::ProviderRow| row.key_env.contains(&name) || own(row.id) == name;
    CREDENTIAL_NAMES.contains(&name) || catalogue::PROVIDERS.iter().any(holds)
}

/// Asks for the long window (design.md 8 (c)).
const LONG_WINDOW_MARK: &str = "[1m]";

/// A model and the provider that has it.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    provider: Arc<dyn Provider>,
    /// As it is shown and pinned, `[1m]` included.
    pub(crate) id: String,
    /// Why it cannot be asked.
    problem: Option<RpcError>,
}

impl Model {
    /// Stands for a model that cannot be asked.
    fn unusable(provider: String, id: String, problem: RpcError) -> Self {
        let unconfigured = Unconfigured { id: provider, problem: problem.clone() };
        Self { provider: Arc::new(unconfigured), id, problem: Some(problem) }
    }

    /// Why it cannot be asked, if it cannot.
    pub(crate) fn problem(&self) -> Option<&RpcError> {
        self.problem.as_ref()
    }

    pub(crate) fn provider_id(&self) -> &str {
        self.provider.id()
    }

    pub(crate) fn info(&self) -> ModelInfo {
        self.provider.model(self.id.strip_suffix(LONG_WINDOW_MARK).unwrap_or(&self.id))
    }

    pub(crate) fn is_configured(&self) -> bool {
        self.problem.is_none()
    }

    pub(crate) fn is_scripted(&self) -> bool {
        self.provider.model(&self.id).scripted
    }

    fn betas(&self, spec: &SessionSpec) -> Vec<String> {
        let long =
            self.id.ends_with(LONG_WINDOW_MARK).then(|| catalogue::LONG_WINDOW_BETA.to_owned());
        spec.betas.iter().cloned().chain(long).collect()
    }

    pub(crate) fn choice(&self, spec: &SessionSpec) -> ModelChoice {
        ModelChoice {
            provider: Arc::clone(&self.provider),
            model: self.id.strip_suffix(LONG_WINDOW_MARK).unwrap_or(&self.id).to_owned(),
            thinking: spec.thinking,
            effort: spec.effort,
            max_output_tokens: None,
            betas: self.betas(spec),
        }
    }
}

/// Stands in while no model is set up: sessions can be looked at, prompts fail.
#[derive(Debug)]
struct Unconfigured {
    /// The provider that was chosen and cannot be used; empty if none was.
    id: String,
    problem: RpcError,
}

impl Provider for Unconfigured {
    fn id(&self) -> &str {
        &self.id
    }

    fn model(&self, _model: &str) -> ModelInfo {
        ModelInfo::default()
    }

    fn stream(&self, _request: ModelRequest, _cancel: Cancel) -> ModelStream {
        let failure = Failure {
            kind: ErrorKind::NotConfigured,
            message: self.problem.message.clone(),
            hint: self.problem.data.get("hint").and_then(|hint| hint.as_str()).map(str::to_owned),
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
            return Ok(Model::unusable(String::new(), String::new(), self.not_configured()));
        };
        match self.open_model(&spec.cwd, &choice) {
            // What a session was pinned to may be gone: it can be looked at, and go on with
            // another model.
            Err(problem) if pinned == Some(&choice) => {
                let (provider, model) = choice;
                Ok(Model::unusable(provider, model, problem))
            }
            opened => opened,
        }
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
        if let Some(script) = setting.filter(|model| model.starts_with("scripted:"))
            && script != "scripted:demo"
        {
            let text = format!(
                "setting `model`: `{script}` is taken from the command line and the environment only"
            );
            return Err(RpcError::new(ErrorKind::Settings, text));
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

    /// Chooses provider and model for a session that goes on; `current` is what it has now.
    pub(crate) fn choose_model(
        &self,
        cwd: &AbsPath,
        provider: Option<&str>,
        model: Option<&str>,
        current: Option<&(String, String)>,
    ) -> Result<Model, RpcError> {
        let pair = self.pair(provider, model, current.map(|(provider, _)| provider.as_str()))?;
        if current != Some(&pair) {
            refuse_script_file(&pair.0, Some(&pair.1))?;
        }
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
        Ok(Model { provider: Arc::new(scripted), id: scenario.to_owned(), problem: None })
    }

    /// The tools that this program ships, without a session.
    pub(crate) fn builtin_tools(&self) -> Result<Registry, RpcError> {
        let supervisor = ostler_sandbox::Supervisor::new(self.exe());
        let hands = crate::hands::hands(
            self,
            BTreeMap::new(),
            supervisor,
            ostler_builtins::Gate::open(),
            "",
        );
        let mut registry = Registry::default();
        ostler_builtins::register(&mut registry, hands)
            .map_err(|error| RpcError::new(ErrorKind::Internal, error.to_string()))?;
        Ok(registry)
    }

    /// A choice in words as one pair; `kept` is the provider that a bare model stays with.
    fn pair(
        &self,
        provider: Option<&str>,
        model: Option<&str>,
        kept: Option<&str>,
    ) -> Result<(String, String), RpcError> {
        let usage = |text: String| RpcError::new(ErrorKind::Usage, text);
        if provider == Some("scripted") {
            return Ok(("scripted".to_owned(), model.unwrap_or("demo").to_owned()));
        }
        let config = self.config()?;
        if let Some(id) = provider
            && self.endpoint(&config, id).is_none()
        {
            return Err(usage(format!("there is no provider `{id}`"))
                .hint("`ostler providers` lists those that there are; add one to `config.json` under `providers`"));
        }
        let own: Vec<String> = config.providers.keys().cloned().collect();
        let usable =
            |id: &str| self.endpoint(&config, id).is_some_and(|endpoint| endpoint.is_usable());
        let known = Known { own: &own, usable: &usable, current: provider.or(kept) };
        let words = match (model, provider) {
            (Some(model), Some(id)) if !model.contains('/') => format!("{id}/{model}"),
            (Some(model), _) => model.to_owned(),
            (None, _) => "default".to_owned(),
        };
        match catalogue::resolve(&words, &known) {
            Ok(Choice::Model { provider, model, long_window }) => {
                let window = if long_window { LONG_WINDOW_MARK } else { "" };
                Ok((provider, format!("{model}{window}")))
            }
            Ok(Choice::Script { file }) => Ok(("scripted".to_owned(), file)),
            Ok(Choice::Demo) => Ok(("scripted".to_owned(), "demo".to_owned())),
            Err(Unresolved::NoDefault { provider }) => {
                let own_model =
                    config.providers.get(&provider).and_then(|entry| entry.model.clone());
                own_model
                    .map(|model| (provider.clone(), model))
                    .ok_or_else(|| usage(Unresolved::NoDefault { provider }.to_string()))
            }
            Err(Unresolved::NoProvider { .. }) if provider.is_none() => Err(self.not_configured()),
            Err(error) => Err(usage(error.to_string())),
        }
    }

    /// What is used if nobody says: `config.json`, the first provider with a key, a local
    /// server.
    fn default_pair(&self) -> Result<Option<(String, String)>, RpcError> {
        let config = self.config()?;
        if let Some(current) = &config.current {
            return Ok(Some(current.clone()));
        }
        let own = config
            .providers
            .iter()
            .filter_map(|(id, entry)| Some((id.clone(), entry.model.clone()?)));
        let listed = catalogue::PROVIDERS
            .iter()
            .filter(|row| row.needs_key)
            .filter_map(|row| Some((row.id.to_owned(), row.default_model?.to_owned())));
        let keyed = own.chain(listed).find(|(id, _)| {
            self.endpoint(&config, id).is_some_and(|endpoint| endpoint.is_usable())
        });
        Ok(keyed.or_else(|| {
            catalogue::PROVIDERS
                .iter()
                .filter(|row| !row.needs_key)
                .find_map(|row| Some((row.id.to_owned(), local::first_model(row.base_url)?)))
        }))
    }

    fn config(&self) -> Result<Config, RpcError> {
        self.store().config().map_err(|error| match error {
            // The user's own file to mend: an error of settings, not of storage.
            ostler_store::Error::Damaged { .. } => {
                RpcError::new(ErrorKind::Settings, error.to_string())
            }
            error => crate::live::storage_error(&error),
        })
    }

    /// How a provider is reached: the environment before `config.json` before the catalogue.
    fn endpoint(&self, config: &Config, id: &str) -> Option<Endpoint> {
        let row = catalogue::provider(id);
        let entry = config.providers.get(id);
        if row.is_none() && entry.is_none() {
            return None;
        }
        let upper = id.to_ascii_uppercase().replace('-', "_");
        let env = |name: &str| self.env().var(name).map(str::to_owned);
        let wire = match entry.and_then(|entry| entry.wire.as_deref()) {
            Some("messages") => Wire::Messages,
            Some("chat") => Wire::Chat,
            // A wire that is not known is said when the provider is used.
            _ => row.map_or(Wire::Chat, |row| row.wire),
        };
        let base_url = env(&format!("{upper}_BASE_URL"))
            .or_else(|| row.and_then(|row| env(row.base_url_env)))
            .or_else(|| entry.and_then(|entry| entry.base_url.clone()))
            .or_else(|| row.map(|row| row.base_url.to_owned()))?;
        let keys = [format!("{upper}_API_KEY")];
        let listed = row.map_or(&[][..], |row| row.key_env).iter();
        let listed =
            listed.filter(|name| !CREDENTIAL_NAMES.contains(name)).map(|name| (*name).to_owned());
        let key = keys.into_iter().chain(listed).find_map(|name| env(&name));
        let bearer = (id == "anthropic")
            .then(|| CREDENTIAL_NAMES.iter().find_map(|name| env(name)))
            .flatten();
        let stored = entry.and_then(|entry| entry.api_key.clone());
        let (key, header) = match (key, bearer) {
            (Some(key), _) => (Some(SecretString::from(key)), KeyHeader::ApiKey),
            (None, Some(token)) => (Some(SecretString::from(token)), KeyHeader::Bearer),
            (None, None) => (stored, KeyHeader::ApiKey),
        };
        let needs_key = entry
            .and_then(|entry| entry.auth_mode.as_deref())
            .map_or_else(|| row.is_none_or(|row| row.needs_key), |mode| mode != "none");
        Some(Endpoint { wire, base_url, key, header, needs_key, own: entry.is_some() })
    }

    fn open_model(&self, cwd: &AbsPath, pair: &(String, String)) -> Result<Model, RpcError> {
        let (id, model) = pair;
        if id == "scripted" {
            return self.open_scripted(cwd, model);
        }
        check_wire(&self.config()?, id)?;
        let config = self.config()?;
        let endpoint = self.endpoint(&config, id).ok_or_else(|| {
            RpcError::new(ErrorKind::NotConfigured, format!("provider `{id}` is no longer set up"))
                .hint(HOW_TO_CONFIGURE)
        })?;
        if endpoint.needs_key && endpoint.key.is_none() {
            let name = format!("{}_API_KEY", id.to_ascii_uppercase().replace('-', "_"));
            return Err(RpcError::new(
                ErrorKind::NotConfigured,
                format!("provider `{id}` has no key"),
            )
            .hint(format!("set `{name}`, or `providers.{id}.apiKey` in `config.json`")));
        }
        let mut open = ProviderConfig::new(id.clone(), endpoint.wire, endpoint.base_url);
        open.key = endpoint.key;
        open.key_header = endpoint.header;
        open.timeouts = self.timeouts(open.timeouts);
        if let Some(retries) =
            self.env().var("CLAUDE_CODE_MAX_RETRIES").and_then(|n| n.parse().ok())
        {
            open.retry = open.retry.with_max_retries(retries);
        }
        open.proxy = self.proxy(&open.base_url);
        Ok(Model { provider: ostler_provider::open(open), id: model.clone(), problem: None })
    }

    fn timeouts(&self, usual: Timeouts) -> Timeouts {
        let ms = |name: &str| self.env().var(name)?.parse().ok().map(Duration::from_millis);
        Timeouts {
            header: ms("OSTLER_HEADER_TIMEOUT_MS")
                .or_else(|| ms("API_TIMEOUT_MS"))
                .unwrap_or(usual.header),
            idle: ms("OSTLER_SSE_STALL_TIMEOUT_MS").unwrap_or(usual.idle),
        }
    }

    /// The proxy for an address; loopback needs none.
    fn proxy(&self, base_url: &str) -> Option<String> {
        let host = base_url.split("://").nth(1)?.split(['/', ':']).next()?;
        if matches!(host, "localhost" | "127.0.0.1" | "[" | "[::1]") {
            return None;
        }
        let names: &[&str] = if base_url.starts_with("https:") {
            &["HTTPS_PROXY", "https_proxy"]
        } else {
            &["HTTP_PROXY", "http_proxy"]
        };
        names.iter().find_map(|name| self.env().var(name)).map(str::to_owned)
    }

    /// The providers that there are, and which can be used. No key leaves.
    pub(crate) fn providers(&self) -> Vec<ProviderInfo> {
        let config = self.config().unwrap_or_default();
        let listed = catalogue::PROVIDERS.iter().map(|row| row.id.to_owned());
        let own = config.providers.keys().filter(|id| catalogue::provider(id).is_none()).cloned();
        let mut rows: Vec<ProviderInfo> = listed
            .chain(own)
            .filter_map(|id| {
                let endpoint = self.endpoint(&config, &id)?;
                let row = catalogue::provider(&id);
                let own_model = config.providers.get(&id).and_then(|entry| entry.model.clone());
                let models =
                    row.map_or(&[][..], |row| row.models).iter().map(|model| model.id.to_owned());
                let first =
                    own_model.or_else(|| row.and_then(|row| row.default_model).map(str::to_owned));
                let mut models: Vec<String> =
                    models.filter(|model| Some(model) != first.as_ref()).collect();
                models.splice(0..0, first);
                Some(ProviderInfo {
                    name: row.map_or_else(|| id.clone(), |row| row.name.to_owned()),
                    description: endpoint.base_url.clone(),
                    has_api_key: endpoint.key.is_some(),
                    supported: true,
                    auth_mode: if endpoint.needs_key { "apiKey" } else { "none" }.to_owned(),
                    models,
                    scripted: false,
                    id,
                })
            })
            .collect();
        rows.push(ProviderInfo {
            id: "scripted".to_owned(),
            name: "Offline demo".to_owned(),
            description: "answers from a script; no model, nothing is sent".to_owned(),
            has_api_key: false,
            supported: true,
            auth_mode: "none".to_owned(),
            models: vec!["demo".to_owned()],
            scripted: true,
        });
        rows
    }
}

/// How a provider is reached.
struct Endpoint {
    wire: Wire,
    base_url: String,
    key: Option<SecretString>,
    header: KeyHeader,
    needs_key: bool,
    /// Whether the user set it up.
    own: bool,
}

impl Endpoint {
    /// Whether it can be asked without looking whether a local server is there.
    fn is_usable(&self) -> bool {
        self.key.is_some() || self.own && !self.needs_key
    }
}

/// Refuses a scenario file that a front end names: one is read from the command line and the
/// environment only (design.md 8 (c)), since it says what tools do.
pub(crate) fn refuse_script_file(provider: &str, model: Option<&str>) -> Result<(), RpcError> {
    let file = match (provider, model) {
        ("scripted", Some(file)) if file != "demo" => file,
        (_, Some(model)) if model != "scripted:demo" && model.starts_with("scripted:") => model,
        _ => return Ok(()),
    };
    Err(RpcError::new(
        ErrorKind::Usage,
        format!(
            "`{file}`: a scenario file is taken from the command line and the environment only"
        ),
    )
    .hint("start Ostler with `--model scripted:FILE`, or choose `scripted:demo`"))
}

/// Refuses a provider of `config.json` whose `wire` is not known here: guessing another
/// would send it requests that it does not understand.
fn check_wire(config: &Config, id: &str) -> Result<(), RpcError> {
    let wire = config.providers.get(id).and_then(|entry| entry.wire.as_deref());
    match wire {
        None | Some("messages" | "chat") => Ok(()),
        Some(wire) => {
            let text = format!(
                "`config.json`: `providers.{id}.wire` is `{wire}`; this version knows `chat` and `messages`"
            );
            Err(RpcError::new(ErrorKind::Settings, text))
        }
    }
}
