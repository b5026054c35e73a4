//! What can go wrong, typed by what to do about it (design.md 8 (f)), and its JSON-RPC form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use ts_rs::TS;

/// The kind of a failure: what a caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The call or command line is wrong.
    Usage,
    /// A settings or configuration file is wrong.
    Settings,
    /// The named thing does not exist.
    NotFound,
    /// Someone else answered first.
    AlreadyResolved,
    /// In use, perhaps by another process (`data.pid`).
    Busy,
    /// A cap was reached.
    Limit,
    /// Not through this door.
    WrongDoor,
    /// No provider or model is set up.
    NotConfigured,
    /// The vendor refuses the credential.
    Auth,
    /// The vendor wants money.
    Billing,
    /// The vendor's rate limit.
    RateLimit,
    /// The vendor is overloaded.
    Overloaded,
    /// The vendor failed.
    Server,
    /// The vendor could not be reached, or the connection broke.
    Network,
    /// The vendor went silent.
    Stalled,
    /// The request is larger than the vendor takes.
    TooLarge,
    /// The vendor refuses the request.
    BadRequest,
    /// The vendor does not know the model.
    ModelNotFound,
    /// The vendor's answer makes no sense.
    BadStream,
    /// The money for this run is spent.
    Budget,
    /// The turns for this run are used up.
    Turns,
    /// The run went in circles.
    Loop,
    /// The person stopped it.
    Interrupted,
    /// The disk refused.
    Storage,
    /// A fault of ours.
    Internal,
    /// It took too long.
    Timeout,
    /// An import or upload failed.
    Transfer,
    /// No or a wrong token.
    Unauthorized,
    /// Fixed by managed policy.
    Managed,
    /// Based on an older state than the current one.
    Stale,
    /// A stored file is damaged; nothing was written.
    Damaged,
    /// The caller withdrew the call.
    Cancelled,
    /// Not allowed: a read rule, a foreign store, an untrusted project.
    Forbidden,
}

impl ErrorKind {
    /// The JSON-RPC code (ipc.md section 4 and 11.1).
    #[must_use]
    pub fn code(self) -> i32 {
        match self {
            Self::Usage | Self::Settings => -32602,
            Self::NotFound => -32004,
            Self::AlreadyResolved => -32002,
            Self::Busy => -32006,
            Self::Limit => -32005,
            Self::WrongDoor => -32008,
            Self::NotConfigured | Self::Auth | Self::Billing => -32003,
            Self::Timeout => -32007,
            Self::Transfer => -32009,
            Self::Unauthorized => -32001,
            Self::Managed => -32010,
            Self::Stale => -32011,
            Self::Damaged => -32012,
            Self::Cancelled => -32013,
            Self::Forbidden => -32014,
            Self::RateLimit
            | Self::Overloaded
            | Self::Server
            | Self::Network
            | Self::Stalled
            | Self::TooLarge
            | Self::BadRequest
            | Self::ModelNotFound
            | Self::BadStream
            | Self::Budget
            | Self::Turns
            | Self::Loop
            | Self::Interrupted
            | Self::Storage
            | Self::Internal => -32603,
        }
    }

    /// Whether it is worth trying the same request again after a pause.
    #[must_use]
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            Self::RateLimit
                | Self::Overloaded
                | Self::Server
                | Self::Network
                | Self::Stalled
                | Self::BadStream
        )
    }

    /// Whether the failure lies with the provider: `ostler run` then exits with 3.
    #[must_use]
    pub fn is_provider(self) -> bool {
        self.is_transient()
            || matches!(
                self,
                Self::NotConfigured
                    | Self::Auth
                    | Self::Billing
                    | Self::TooLarge
                    | Self::BadRequest
                    | Self::ModelNotFound
            )
    }

    /// The stable name, as in `data.kind`.
    #[must_use]
    pub fn name(self) -> String {
        serde_json::to_value(self)
            .ok()
            .and_then(|name| name.as_str().map(str::to_owned))
            .unwrap_or_default()
    }
}

/// A JSON-RPC error object: `{code, message, data: {kind, key, hint?, ...}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RpcError {
    /// The JSON-RPC code.
    pub code: i32,
    /// What went wrong, in English.
    pub message: String,
    /// `kind` (design.md 8 (f)), `key` (stable, dotted), `hint` and details.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[ts(type = "Record<string, unknown>", optional)]
    pub data: Map<String, Value>,
}

impl RpcError {
    /// An error of a kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let mut data = Map::new();
        let name = kind.name();
        data.insert("key".to_owned(), json!(format!("error.{name}")));
        data.insert("kind".to_owned(), json!(name));
        Self { code: kind.code(), message: message.into(), data }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        self.with("hint", hint)
    }

    /// Adds one detail.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.data.insert(key.to_owned(), value.into());
        self
    }

    /// Gives it another JSON-RPC code of the same kind.
    #[must_use]
    pub fn code(mut self, code: i32) -> Self {
        self.code = code;
        self
    }
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RpcError {}
