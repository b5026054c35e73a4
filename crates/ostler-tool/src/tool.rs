//! The tool contract, typed for who writes a tool and erased for who runs it.

use std::{future::Future, sync::Arc};

use futures::future::BoxFuture;
use ostler_protocol::{Access, Block, FileDiff};
use ostler_stdx::AbsPath;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize as _, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{context::ToolCx, state::Change};

/// Whether calls of one batch may run beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// It only reads: may run beside other readers.
    Reader,
    /// It may change something: runs alone, in order.
    Writer,
}

/// What a call gave.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// What the model reads: text and pictures, already within the tool's caps.
    pub content: Vec<Block>,
    /// The structured output (agent-sdk.md section 6), for front ends and hooks.
    pub structured: Value,
    /// Files that it changed.
    pub diffs: Vec<FileDiff>,
    /// What it changed in the session itself.
    pub changes: Vec<Change>,
}

impl ToolOutput {
    /// An output of text, with its structured form.
    pub fn text(text: impl Into<String>, structured: Value) -> Self {
        Self::blocks(vec![Block::text(text)], structured)
    }

    /// An output of several blocks, with its structured form.
    #[must_use]
    pub fn blocks(content: Vec<Block>, structured: Value) -> Self {
        Self { content, structured, diffs: Vec::new(), changes: Vec::new() }
    }

    /// With the files that it changed.
    #[must_use]
    pub fn with_diffs(mut self, diffs: Vec<FileDiff>) -> Self {
        self.diffs = diffs;
        self
    }

    /// With a change of the session itself.
    #[must_use]
    pub fn with_change(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }
}

/// Why a call gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The arguments do not fit; the text says which and why.
    #[error("{0}")]
    Invalid(String),
    /// It went wrong in a way that the model can act on; the text says what to try.
    #[error("{0}")]
    Tell(String),
    /// It went wrong, and this is the structured output it still has.
    #[error("{text}")]
    Failed {
        /// What the model reads.
        text: String,
        /// The structured output.
        structured: Value,
    },
    /// It was stopped.
    #[error("interrupted")]
    Cancelled,
}

/// A tool, as its author writes it.
pub trait Tool: Send + Sync + 'static {
    /// Its canonical name (agent-sdk.md section 6).
    const NAME: &'static str;
    /// Its arguments; the doc comments of the fields are what the model reads.
    type Args: DeserializeOwned + JsonSchema + Send + 'static;

    /// The text that the model reads about it.
    fn description(&self) -> &str;

    /// Whether it may run beside other calls.
    fn concurrency(&self) -> Concurrency;

    /// All effects that these arguments have, stated before it runs. `cwd` is where
    /// relative paths start.
    fn access(&self, args: &Self::Args, cwd: &AbsPath) -> Vec<Access>;

    /// One short line that names the call for a person, such as `Read src/lib.rs`.
    fn title(&self, args: &Self::Args) -> String;

    /// What the call would change, shown before it is allowed. Reads only.
    fn preview(&self, args: Self::Args, cx: ToolCx) -> impl Future<Output = Vec<FileDiff>> + Send {
        drop((args, cx));
        async { Vec::new() }
    }

    /// Does it. Must end within a second after `cx.cancel` was cancelled.
    fn run(
        &self,
        args: Self::Args,
        cx: ToolCx,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}

/// A tool, as the agent runs it: arguments are JSON.
pub trait AnyTool: Send + Sync + std::fmt::Debug {
    /// Its canonical name.
    fn name(&self) -> &str;
    /// The text that the model reads about it.
    fn description(&self) -> &str;
    /// JSON Schema of its arguments, with a stable order of keys.
    fn schema(&self) -> &Value;
    /// Whether it may run beside other calls.
    fn concurrency(&self) -> Concurrency;
    /// Its effects, or why the arguments do not fit.
    ///
    /// # Errors
    /// [`ToolError::Invalid`] names the argument.
    fn access(&self, args: &Map<String, Value>, cwd: &AbsPath) -> Result<Vec<Access>, ToolError>;
    /// One short line for a person; the tool's name if the arguments do not fit.
    fn title(&self, args: &Map<String, Value>) -> String;
    /// What the call would change; empty if that cannot be said.
    fn preview(
        self: Arc<Self>,
        args: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Vec<FileDiff>>;
    /// Does it.
    fn run(
        self: Arc<Self>,
        args: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>>;
}

/// Erases a typed tool.
pub fn erase<T: Tool>(tool: T) -> Arc<dyn AnyTool> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T::Args>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("description");
        // Vendors want it of tools without arguments too.
        object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    Arc::new(Erased { tool, schema })
}

struct Erased<T> {
    tool: T,
    schema: Value,
}

impl<T: Tool> std::fmt::Debug for Erased<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Tool").field(&T::NAME).finish()
    }
}

/// Reads typed arguments; `null` counts as absent, as models often send it.
fn decode<T: Tool>(args: &Map<String, Value>) -> Result<T::Args, ToolError> {
    let args: Map<String, Value> = args
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    T::Args::deserialize(Value::Object(args))
        .map_err(|error| ToolError::Invalid(format!("{}: {error}", T::NAME)))
}

impl<T: Tool> AnyTool for Erased<T> {
    fn name(&self) -> &str {
        T::NAME
    }

    fn description(&self) -> &str {
        self.tool.description()
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    fn concurrency(&self) -> Concurrency {
        self.tool.concurrency()
    }

    fn access(&self, args: &Map<String, Value>, cwd: &AbsPath) -> Result<Vec<Access>, ToolError> {
        Ok(self.tool.access(&decode::<T>(args)?, cwd))
    }

    fn title(&self, args: &Map<String, Value>) -> String {
        decode::<T>(args).map_or_else(|_| T::NAME.to_owned(), |args| self.tool.title(&args))
    }

    fn preview(
        self: Arc<Self>,
        args: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Vec<FileDiff>> {
        Box::pin(async move {
            match decode::<T>(&args) {
                Ok(args) => self.tool.preview(args, cx).await,
                Err(_) => Vec::new(),
            }
        })
    }

    fn run(
        self: Arc<Self>,
        args: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let args = decode::<T>(&args)?;
            self.tool.run(args, cx).await
        })
    }
}
