//! One entry of a hook list. Fields that make no sense fail the entry if running it without
//! them would do something else than it says, and are remarked on otherwise.

use std::{cell::RefCell, time::Duration};

use serde_json::{Map, Value};

use crate::{
    Event, Matcher,
    hook::{Action, CommandAction, Hook, HttpAction, MAX_TIMEOUT, Shell},
};

/// The fields of an entry.
pub(super) struct Entry<'a> {
    fields: &'a Map<String, Value>,
    remarks: RefCell<Vec<String>>,
}

impl<'a> Entry<'a> {
    pub(super) fn new(fields: &'a Map<String, Value>) -> Self {
        Self { fields, remarks: RefCell::default() }
    }

    /// What is odd about it, though it counts.
    pub(super) fn into_remarks(self) -> Vec<String> {
        self.remarks.into_inner()
    }

    pub(super) fn read(
        &self,
        event: Event,
        matcher: Matcher,
        file: &str,
        index: usize,
    ) -> Result<Hook, String> {
        let name =
            self.text("name")?.map_or_else(|| format!("{}-{index}", event.name()), str::to_owned);
        let wakes = self.flag("asyncRewake")?;
        Ok(Hook {
            event,
            name,
            matcher,
            action: self.action()?,
            filter: self.text("if")?.filter(|rule| !rule.trim().is_empty()).map(str::to_owned),
            timeout: self.timeout(),
            once: self.flag("once")?,
            in_background: wakes || self.flag("async")?,
            wakes,
            blocks_on_failure: self.blocks_on_failure()?,
            status: self.text("statusMessage")?.map(str::to_owned),
            from: file.to_owned(),
        })
    }

    fn action(&self) -> Result<Action, String> {
        match self.text("type")?.unwrap_or("command") {
            "command" => self.command(),
            "http" => self.http(),
            "prompt" => {
                let prompt = self.needed("prompt")?.to_owned();
                Ok(Action::Prompt { prompt, model: self.text("model")?.map(str::to_owned) })
            }
            kind @ ("agent" | "mcp_tool") => Ok(Action::Unavailable { kind: kind.to_owned() }),
            kind => {
                Err(format!("there is no hook type `{kind}`; use `command`, `http` or `prompt`"))
            }
        }
    }

    fn command(&self) -> Result<Action, String> {
        let args = match self.fields.get("args") {
            None | Some(Value::Null) => None,
            Some(Value::Array(args)) => {
                let args: Option<Vec<_>> =
                    args.iter().map(|arg| arg.as_str().map(str::to_owned)).collect();
                Some(args.ok_or("`args` must be a list of strings")?)
            }
            Some(_) => return Err("`args` must be a list of strings".to_owned()),
        };
        let shell = match self.text("shell")? {
            None | Some("bash" | "sh") => Shell::Bash,
            Some("powershell" | "pwsh") => Shell::PowerShell,
            Some(shell) => {
                return Err(format!("there is no shell `{shell}`; use `bash` or `powershell`"));
            }
        };
        Ok(Action::Command(CommandAction {
            command: self.needed("command")?.to_owned(),
            args,
            shell,
            env: self.texts_of("env")?,
        }))
    }

    fn http(&self) -> Result<Action, String> {
        let url = self.needed("url")?;
        let parsed = reqwest::Url::parse(url)
            .map_err(|error| format!("`url` `{url}` is no address: {error}"))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(format!(
                "`url` must begin with `http://` or `https://`, not `{}:`",
                parsed.scheme()
            ));
        }
        let variables = match self.fields.get("allowedEnvVars") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(names)) => {
                names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
            }
            Some(_) => return Err("`allowedEnvVars` must be a list of names".to_owned()),
        };
        let headers = self.texts_of("headers")?;
        Ok(Action::Http(HttpAction { url: url.to_owned(), headers, variables }))
    }

    /// Seconds; what is no time is said and the usual time holds, so that a hook that
    /// guards something still guards it.
    fn timeout(&self) -> Option<Duration> {
        let value = self.fields.get("timeout").filter(|value| !value.is_null())?;
        let time = value
            .as_f64()
            .filter(|seconds| *seconds > 0.0)
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        if time.is_none() {
            let remark =
                format!("`timeout` `{value}` is no number of seconds; the usual one holds");
            self.remarks.borrow_mut().push(remark);
        }
        if time.is_some_and(|time| time > MAX_TIMEOUT) {
            let remark = format!("`timeout` `{value}` is more than an hour; an hour holds");
            self.remarks.borrow_mut().push(remark);
        }
        time
    }

    fn blocks_on_failure(&self) -> Result<bool, String> {
        match self.text("onFailure")? {
            None | Some("continue" | "ignore" | "allow") => Ok(false),
            Some("block") => Ok(true),
            Some(other) => {
                Err(format!("there is no `onFailure` `{other}`; use `block` or leave it out"))
            }
        }
    }

    fn text(&self, key: &str) -> Result<Option<&'a str>, String> {
        match self.fields.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{key}` must be a string")),
        }
    }

    fn needed(&self, key: &str) -> Result<&'a str, String> {
        self.text(key)?
            .filter(|text| !text.trim().is_empty())
            .ok_or_else(|| format!("it has no `{key}`"))
    }

    fn flag(&self, key: &str) -> Result<bool, String> {
        match self.fields.get(key) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(format!("`{key}` must be true or false")),
        }
    }

    fn texts_of(&self, key: &str) -> Result<Vec<(String, String)>, String> {
        match self.fields.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Object(object)) => object
                .iter()
                .map(|(name, value)| {
                    let value =
                        value.as_str().ok_or_else(|| format!("`{key}.{name}` must be a string"))?;
                    Ok((name.clone(), value.to_owned()))
                })
                .collect(),
            Some(_) => Err(format!("`{key}` must be an object of strings")),
        }
    }
}
