//! `config.json`: what Ostler itself remembers (design.md 8 (e)). Keys are secrets: they
//! are read into a type that cannot be printed or serialized, and written only by name.

use std::{collections::BTreeMap, path::PathBuf};

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    atomic::{self, Access},
    error::{Error, Result},
    settings::{object, pretty, reason, wrong},
    store::Store,
};

/// The part of `config.json` that is read.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The provider and model for new sessions.
    pub current: Option<(String, String)>,
    /// The mode of the last session, in either vocabulary.
    pub last_agent_mode: Option<String>,
    /// Providers by id.
    pub providers: BTreeMap<String, ProviderConfig>,
}

/// A provider as the user set it up.
#[derive(Debug, Clone, Default)]
pub struct ProviderConfig {
    /// `messages`, `responses`, `chat` or `gemini`.
    pub wire: Option<String>,
    /// Where it is, as the vendor's own tools take it.
    pub base_url: Option<String>,
    /// Its key.
    pub api_key: Option<SecretString>,
    /// How it wants the key.
    pub auth_mode: Option<String>,
    /// The model to take there.
    pub model: Option<String>,
}

// No Debug: it holds keys in the clear for a moment.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct RawConfig {
    current: Option<RawCurrent>,
    last_agent_mode: Option<String>,
    providers: BTreeMap<String, RawProvider>,
}

#[derive(Deserialize)]
struct RawCurrent {
    provider: String,
    model: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct RawProvider {
    wire: Option<String>,
    base_url: Option<String>,
    api_key: Option<String>,
    auth_mode: Option<String>,
    model: Option<String>,
}

impl From<RawProvider> for ProviderConfig {
    fn from(raw: RawProvider) -> Self {
        Self {
            wire: raw.wire,
            base_url: raw.base_url,
            api_key: raw.api_key.map(SecretString::from),
            auth_mode: raw.auth_mode,
            model: raw.model,
        }
    }
}

impl Store {
    /// Reads `config.json`; empty if there is none.
    ///
    /// # Errors
    /// `Damaged` with the place, `Storage`.
    pub fn config(&self) -> Result<Config> {
        let path = self.config_file();
        let Some(bytes) = atomic::read(&path)? else { return Ok(Config::default()) };
        if bytes.trim_ascii().is_empty() {
            return Ok(Config::default());
        }
        let raw: RawConfig = serde_json::from_slice(&bytes).map_err(|error| {
            // A parser may quote a value of the wrong type, and any value may be a key.
            let what = if error.is_data() {
                "a value has the wrong type".to_owned()
            } else {
                reason(&error)
            };
            Error::Damaged { path, line: error.line(), column: error.column(), what }
        })?;
        Ok(Config {
            current: raw.current.map(|current| (current.provider, current.model)),
            last_agent_mode: raw.last_agent_mode,
            providers: raw.providers.into_iter().map(|(id, raw)| (id, raw.into())).collect(),
        })
    }

    /// Remembers the provider and model for new sessions.
    ///
    /// # Errors
    /// `Damaged` if the file is broken (nothing is written), `Storage`.
    pub fn set_current(&self, provider: &str, model: &str) -> Result<()> {
        self.change_config(|map| {
            let current = child(map, "current")?;
            current.insert("provider".to_owned(), provider.into());
            current.insert("model".to_owned(), model.into());
            Some(())
        })
    }

    /// Remembers the mode of the last session.
    ///
    /// # Errors
    /// As [`Self::set_current`].
    pub fn set_last_agent_mode(&self, mode: &str) -> Result<()> {
        self.change_config(|map| {
            map.insert("lastAgentMode".to_owned(), mode.into());
            Some(())
        })
    }

    /// Sets the given fields of a provider; absent ones stay as they are.
    ///
    /// # Errors
    /// As [`Self::set_current`].
    pub fn set_provider(&self, id: &str, fields: &ProviderConfig) -> Result<()> {
        self.change_config(|map| {
            let provider = child(child(map, "providers")?, id)?;
            let key = fields.api_key.as_ref().map(|key| key.expose_secret().to_owned());
            let fields = [
                ("wire", fields.wire.clone()),
                ("baseUrl", fields.base_url.clone()),
                ("apiKey", key),
                ("authMode", fields.auth_mode.clone()),
                ("model", fields.model.clone()),
            ];
            for (name, value) in fields {
                if let Some(value) = value {
                    provider.insert(name.to_owned(), value.into());
                }
            }
            Some(())
        })
    }

    /// Forgets a provider, its key included.
    ///
    /// # Errors
    /// As [`Self::set_current`].
    pub fn remove_provider(&self, id: &str) -> Result<()> {
        self.change_config(|map| {
            child(map, "providers")?.shift_remove(id);
            Some(())
        })
    }

    fn change_config(
        &self,
        change: impl FnOnce(&mut Map<String, Value>) -> Option<()>,
    ) -> Result<()> {
        let path = self.config_file();
        atomic::update(&path, Access::Private, |bytes| {
            let mut map = object(&path, bytes)?;
            change(&mut map).ok_or_else(|| wrong(&path, "a section is not an object"))?;
            Ok(Some(pretty(&map)))
        })
    }

    fn config_file(&self) -> PathBuf {
        self.roots().home.join("config.json").to_path_buf()
    }
}

/// The object under a key, made if absent; none if something else is there.
fn child<'a>(map: &'a mut Map<String, Value>, key: &str) -> Option<&'a mut Map<String, Value>> {
    map.entry(key).or_insert_with(|| Map::new().into()).as_object_mut()
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;
    use crate::log::tests::Home;

    #[test]
    fn what_is_set_is_read_and_the_rest_stays() {
        let home = Home::new();
        assert!(home.store.config().unwrap().current.is_none());
        home.store.set_current("acme", "m1").unwrap();
        let path = home.store.config_file();
        let text = fs::read_to_string(&path).unwrap().replacen('{', "{\"mcp\": {\"z\": 1},", 1);
        fs::write(&path, text).unwrap();
        let key = Some(SecretString::from("canary-key".to_owned()));
        let fields = ProviderConfig { api_key: key, ..ProviderConfig::default() };
        home.store.set_provider("acme", &fields).unwrap();
        let wire = Some("chat".to_owned());
        let fields = ProviderConfig { wire, ..ProviderConfig::default() };
        home.store.set_provider("acme", &fields).unwrap();
        let config = home.store.config().unwrap();
        assert_eq!(config.current, Some(("acme".to_owned(), "m1".to_owned())));
        let provider = &config.providers["acme"];
        assert_eq!(provider.api_key.as_ref().unwrap().expose_secret(), "canary-key");
        assert_eq!(provider.wire.as_deref(), Some("chat"));
        assert!(!format!("{config:?}").contains("canary"));
        assert!(fs::read_to_string(&path).unwrap().starts_with("{\n  \"mcp\": {\n    \"z\": 1"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        home.store.remove_provider("acme").unwrap();
        assert!(home.store.config().unwrap().providers.is_empty());
    }

    #[test]
    fn a_broken_file_is_refused_without_showing_its_values() {
        let home = Home::new();
        home.store.set_current("acme", "m1").unwrap();
        let path = home.store.config_file();
        for broken in ["{\"current\": \n ", "{\"providers\": {\"a\": \"canary-key\"}}"] {
            fs::write(&path, broken).unwrap();
            let error = home.store.config().unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }));
            assert!(!error.to_string().contains("canary"), "{error}");
        }
        fs::write(&path, "{\"providers\": 7}").unwrap();
        let fields = ProviderConfig::default();
        assert!(home.store.set_provider("a", &fields).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"providers\": 7}");
    }
}
