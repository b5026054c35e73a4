//! What a person writes as a model becomes a provider and an id (design.md 8 (c)). Pure.

use super::{ALIASES, PROVIDERS, provider};

/// What was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// A model of a provider.
    Model {
        /// The provider's id.
        provider: String,
        /// The vendor's own id of the model.
        model: String,
        /// Whether the long window was asked for by `[1m]`.
        long_window: bool,
    },
    /// The scenario of a file.
    Script {
        /// The path as it was written.
        file: String,
    },
    /// The offline demo.
    Demo,
}

/// What the host knows.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// Ids of the user's own providers, besides the catalogue's.
    pub own: &'a [String],
    /// Whether a provider can be used: it has a key, or needs none and is there.
    pub usable: &'a dyn Fn(&str) -> bool,
    /// The session's provider, if it has one.
    pub current: Option<&'a str>,
}

impl std::fmt::Debug for Known<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Known")
            .field("own", &self.own)
            .field("current", &self.current)
            .finish_non_exhaustive()
    }
}

/// The words name no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// There are none.
    #[error("no model is named; write `provider/id`, such as `anthropic/claude-sonnet-4-5`")]
    Empty,
    /// A bare id that nobody has, and no provider to ask for it.
    #[error(
        "no provider for model `{model}`; write `provider/id`, or set a key such as `ANTHROPIC_API_KEY`"
    )]
    NoProvider {
        /// The id.
        model: String,
    },
    /// The provider has no default model.
    #[error("provider `{provider}` has no default model; write `{provider}/id`")]
    NoDefault {
        /// The provider.
        provider: String,
    },
}

/// Resolves what a person wrote: `provider/id`, an alias, a bare id, `scripted:FILE`.
///
/// # Errors
/// [`Unresolved`] says what to write instead.
pub fn resolve(text: &str, known: &Known<'_>) -> Result<Choice, Unresolved> {
    let text = text.trim();
    match text.strip_prefix("scripted:") {
        Some("demo") => return Ok(Choice::Demo),
        Some(file) if !file.is_empty() => return Ok(Choice::Script { file: file.to_owned() }),
        Some(_) => return Err(Unresolved::Empty),
        None => {}
    }
    let (text, long_window) = match text.strip_suffix("[1m]") {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    if text.is_empty() {
        return Err(Unresolved::Empty);
    }
    let (provider, model) = pair(text, known)?;
    Ok(Choice::Model { provider, model, long_window })
}

fn pair(text: &str, known: &Known<'_>) -> Result<(String, String), Unresolved> {
    let exists = |id: &str| provider(id).is_some() || known.own.iter().any(|own| own == id);
    if let Some((id, model)) = text.split_once('/')
        && exists(id)
        && !model.is_empty()
    {
        if model == "default" {
            return default_of(id);
        }
        return Ok((id.to_owned(), model.to_owned()));
    }
    let usable = || PROVIDERS.iter().map(|row| row.id).find(|id| (known.usable)(id));
    if text == "default" {
        return default_of(known.current.or_else(usable).unwrap_or("anthropic"));
    }
    if let Some((_, id, model)) = ALIASES.iter().find(|(alias, ..)| *alias == text) {
        return Ok(((*id).to_owned(), (*model).to_owned()));
    }
    let has = |id: &str| provider(id).is_some_and(|row| super::model_row(row, text).is_some());
    let listed = || PROVIDERS.iter().map(|row| row.id).filter(|id| has(id));
    let id = known
        .current
        .filter(|id| has(id))
        .or_else(|| listed().find(|id| (known.usable)(id)))
        .or(known.current)
        .or_else(|| listed().next())
        .or_else(usable)
        .ok_or_else(|| Unresolved::NoProvider { model: text.to_owned() })?;
    Ok((id.to_owned(), text.to_owned()))
}

fn default_of(id: &str) -> Result<(String, String), Unresolved> {
    let model = provider(id).and_then(|row| row.default_model);
    let model = model.ok_or_else(|| Unresolved::NoDefault { provider: id.to_owned() })?;
    Ok((id.to_owned(), model.to_owned()))
}
