//! The one method table. A row gives name, params, result and doc; dispatch, validation,
//! schema, OpenRPC and TypeScript derive from it.

use std::future::Future;

use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::{
    error::{ErrorKind, RpcError},
    event::{PermissionAsked, QuestionAsked},
    ids::{MessageId, RequestId, SessionId},
    mode::Mode,
    params::decode,
    session::{
        LoopResult, PermissionDecision, SerializedMessage, SessionMeta, SessionRow, SessionStatus,
        TranscriptMessage,
    },
    task::{BackgroundTask, Todo},
    trust::{Brought, TrustDecision, TrustState},
};

/// What is known of one method, for discovery and generated clients.
#[derive(Debug)]
pub struct MethodInfo {
    /// The dotted name.
    pub name: &'static str,
    /// One line that says what it does.
    pub doc: &'static str,
    /// Names of its params and result types.
    pub types: (&'static str, &'static str),
    /// Adds the schemas of params and result to a generator.
    pub schemas: fn(&mut SchemaGenerator) -> (schemars::Schema, schemars::Schema),
}

macro_rules! methods {
    ($($(#[doc = $doc:literal])+ $name:literal $call:ident($params:ident) -> $result:ident;)*) => {
        /// Every method, in the order of the documentation.
        pub const METHODS: &[MethodInfo] = &[$(MethodInfo {
            name: $name,
            doc: concat!($($doc),+),
            types: (stringify!($params), stringify!($result)),
            schemas: |generator| {
                (generator.subschema_for::<$params>(), generator.subschema_for::<$result>())
            },
        }),*];

        /// What a host implements: one function per method, none with a default body.
        pub trait Handler: Send + Sync {
            $(
                $(#[doc = $doc])+
                fn $call(&self, caller: &Caller, params: $params)
                    -> impl Future<Output = Result<$result, RpcError>> + Send;
            )*
        }

        /// Validates the params, calls the method and gives its result as JSON.
        ///
        /// # Errors
        /// -32601 for a method that is not in the table, -32602 for wrong params, and
        /// whatever the method itself answers.
        pub async fn dispatch<H: Handler>(
            handler: &H,
            caller: &Caller,
            method: &str,
            params: Option<Value>,
        ) -> Result<Value, RpcError> {
            match method {
                $($name => {
                    let params: $params = decode($name, params)?;
                    let result = handler.$call(caller, params).await?;
                    serde_json::to_value(result)
                        .map_err(|error| RpcError::new(ErrorKind::Internal, error.to_string()))
                })*
                _ => Err(RpcError::new(ErrorKind::Usage, format!("method not found: `{method}`"))
                    .code(-32601)
                    .with("method", method)
                    .hint("`rpc.discover` lists the methods")),
            }
        }

        pub(crate) fn export_method_types(out: &mut Vec<(&'static str, String)>, config: &ts_rs::Config) {
            $(
                crate::codegen::collect::<$params>(out, config);
                crate::codegen::collect::<$result>(out, config);
            )*
        }

        pub(crate) fn method_type_names(config: &ts_rs::Config) -> Vec<(String, String)> {
            vec![$((<$params as TS>::name(config), <$result as TS>::name(config))),*]
        }
    };
}

methods! {
    /// The tools that a session offers, with their parameters as JSON Schema.
    "tools.list" tools_list(ToolsListParams) -> ToolsListResult;
    /// Starts a session in a project folder.
    "session.start" session_start(SessionStartParams) -> SessionStartResult;
    /// Sends a message and answers at the end of its run; while the session is busy the message waits in its queue.
    "session.send" session_send(SessionSendParams) -> SessionSendResult;
    /// Takes a waiting message out of the queue.
    "session.dequeue" session_dequeue(SessionDequeueParams) -> SessionDequeueResult;
    /// Stops the running turn of a session; an idle session is no error.
    "session.stop" session_stop(SessionStopParams) -> Null;
    /// Lists sessions, newest turn first.
    "session.list" session_list(SessionListParams) -> SessionListResult;
    /// Loads a session, so that it can be sent to, and gives its transcript.
    "session.resume" session_resume(SessionResumeParams) -> SessionResumeResult;
    /// Looks at a session without loading it: transcript, open requests and place in the event stream.
    "session.open" session_open(SessionOpenParams) -> SessionOpenResult;
    /// Gives a session a title.
    "session.rename" session_rename(SessionRenameParams) -> Null;
    /// Sets mode or model of a session.
    "session.set" session_set(SessionSetParams) -> SessionRow;
    /// Answers a permission request.
    "permission.answer" permission_answer(PermissionAnswerParams) -> Null;
    /// Refuses a permission request.
    "permission.reject" permission_reject(PermissionRejectParams) -> Null;
    /// The permission requests that wait for an answer.
    "permission.pending" permission_pending(PermissionPendingParams) -> PermissionPendingResult;
    /// Answers questions, or decides on a plan.
    "question.answer" question_answer(QuestionAnswerParams) -> Null;
    /// Refuses questions or a plan.
    "question.reject" question_reject(QuestionRejectParams) -> Null;
    /// The questions and plans that wait for an answer.
    "question.pending" question_pending(QuestionPendingParams) -> QuestionPendingResult;
    /// The commands and agents of a session that go on in the background, and those that ended.
    "tasks.list" tasks_list(TasksListParams) -> TasksListResult;
    /// What a background task wrote, from a place on.
    "tasks.output" tasks_output(TasksOutputParams) -> TasksOutputResult;
    /// Stops a background task and everything that it started.
    "tasks.stop" tasks_stop(TasksStopParams) -> TasksStopResult;
    /// The providers that can be used, and which have a key.
    "providers.list" providers_list(ProvidersListParams) -> ProvidersListResult;
    /// The project folders that sessions were started in, newest first.
    "projects.list" projects_list(ProjectsListParams) -> ProjectsListResult;
    /// What a project's present content brings that could act, and whether it is trusted.
    "projects.trustReport" projects_trust_report(ProjectsTrustReportParams) -> ProjectsTrustReportResult;
    /// Trusts exactly the content that was reported, refuses it, or takes the trust back.
    "projects.trust" projects_trust(ProjectsTrustParams) -> ProjectRow;
    /// Facts of this host.
    "host.info" host_info(HostInfoParams) -> HostInfoResult;
    /// Subscribes this connection to the events of a session, after a place in its stream.
    "events.subscribe" events_subscribe(EventsSubscribeParams) -> EventsSubscribeResult;
    /// Ends a subscription.
    "events.unsubscribe" events_unsubscribe(EventsUnsubscribeParams) -> Null;
    /// This protocol as an OpenRPC document.
    "rpc.discover" rpc_discover(RpcDiscoverParams) -> RpcDiscoverResult;
}

/// Who calls: a connection of some transport.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Names the connection, or over HTTP the window (`Ostler-Client`); unique in the process.
    pub client: String,
    /// How it is connected.
    pub transport: TransportKind,
}

/// How a caller is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportKind {
    /// In the same process.
    InProcess,
    /// Lines on stdin and stdout.
    Stdio,
    /// HTTP with server-sent events.
    Http,
}

/// No result: `null` on the wire.
pub type Null = ();

macro_rules! wire {
    ($($(#[$meta:meta])* struct $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
        #[serde(rename_all = "camelCase")]
        #[ts(optional_fields = nullable)]
        pub struct $name { $($(#[$field_meta])* pub $field: $type,)* }
    )*};
}

wire! {
    /// Params of `tools.list`.
    struct ToolsListParams {}
    /// One tool.
    struct ToolInfo {
        /// Its canonical name.
        id: String,
        /// The text that the model reads.
        description: String,
        /// JSON Schema of its arguments.
        #[ts(type = "Record<string, unknown>")]
        parameters: Value,
    }
    /// Params of `session.start`.
    struct SessionStartParams {
        /// The project folder, absolute; absent means the host's own working folder.
        #[serde(default)]
        project_path: Option<String>,
        /// Takes a `projectPath` that does not exist by falling back to the host's folder.
        #[serde(default)]
        allow_missing: Option<bool>,
        /// The provider, chosen together with the model.
        #[serde(default)]
        provider: Option<String>,
        /// The model: an id of the provider, an alias, or `provider/id`.
        #[serde(default)]
        model: Option<String>,
        /// The mode, either vocabulary.
        #[serde(default)]
        agent_mode: Option<Mode>,
        /// The same id within 24 h gives the first result again.
        #[serde(default)]
        client_id: Option<String>,
    }
    /// Result of `session.start`: what is in force.
    struct SessionStartResult {
        /// The new session.
        session_id: SessionId,
        /// Its project folder.
        project_path: String,
        /// Its provider; absent if none is set up yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        /// Its model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    }
    /// An image in a prompt.
    struct PromptImage {
        /// Base64.
        data: String,
        /// Such as `image/png`.
        media_type: String,
        /// What it shows.
        #[serde(default)]
        alt_text: Option<String>,
    }
    /// Params of `session.send`.
    struct SessionSendParams {
        /// The session.
        session_id: SessionId,
        /// The prompt.
        message: String,
        /// Pictures that belong to it.
        #[serde(default)]
        images: Option<Vec<PromptImage>>,
        /// The provider from now on.
        #[serde(default)]
        provider: Option<String>,
        /// The model from now on.
        #[serde(default)]
        model: Option<String>,
        /// The mode from now on.
        #[serde(default)]
        agent_mode: Option<Mode>,
        /// The same id within 24 h gives the first result again.
        #[serde(default)]
        client_id: Option<String>,
    }
    /// The message waits.
    struct Queued {
        /// Always true.
        queued: bool,
        /// Name this in `session.dequeue`.
        id: String,
    }
    /// Params of `session.dequeue`.
    struct SessionDequeueParams {
        /// The session.
        session_id: SessionId,
        /// The waiting message.
        id: String,
    }
    /// Result of `session.dequeue`.
    struct SessionDequeueResult {
        /// Whether it was still waiting.
        removed: bool,
    }
    /// Params of `session.stop`.
    struct SessionStopParams {
        /// The session.
        session_id: SessionId,
        /// Drops waiting messages too.
        #[serde(default)]
        clear_queue: Option<bool>,
    }
    /// Params of `session.list`.
    struct SessionListParams {
        /// Only this project folder.
        #[serde(default)]
        project_path: Option<String>,
        /// Only this status; deleted ones are hidden unless asked for.
        #[serde(default)]
        status: Option<SessionStatus>,
    }
    /// Params of `session.resume`.
    struct SessionResumeParams {
        /// The session.
        session_id: SessionId,
    }
    /// Result of `session.resume`.
    struct SessionResumeResult {
        /// The session.
        session_id: SessionId,
        /// Its transcript in the shape of the reference.
        messages: Vec<SerializedMessage>,
        /// Its facts.
        meta: SessionMeta,
        /// Its provider.
        provider: String,
        /// Its model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Its mode, short vocabulary.
        agent_mode: String,
        /// Its mode, exact name.
        permission_mode: Mode,
        /// Whether a run goes on.
        running: bool,
    }
    /// Params of `session.open`.
    struct SessionOpenParams {
        /// The session.
        session_id: SessionId,
        /// At most so many turns, counted from the end; 30 if absent.
        #[serde(default)]
        turns: Option<u32>,
    }
    /// The block that is being written right now.
    struct OpenBlock {
        /// The message that it belongs to.
        message_id: MessageId,
        /// Its position in the response.
        block: u32,
        /// The ordinal of the next delta.
        n: u32,
        /// Whether it is reasoning.
        thinking: bool,
        /// What is there so far.
        text: String,
    }
    /// A waiting message.
    struct QueuedMessage {
        /// Its id.
        id: String,
        /// Its text.
        content: String,
        /// When it was queued, ms since the epoch.
        queued_at: i64,
    }
    /// Result of `session.open`.
    struct SessionOpenResult {
        /// Its row.
        row: SessionRow,
        /// Its transcript, oldest first.
        messages: Vec<TranscriptMessage>,
        /// Whether older messages were left out.
        older: bool,
        /// The place in the event stream that this belongs to.
        seq: u64,
        /// The host's epoch.
        epoch: String,
        /// Open permission requests.
        requests: Vec<PermissionAsked>,
        /// Open questions and plans.
        questions: Vec<QuestionAsked>,
        /// The to-do list.
        todos: Vec<Todo>,
        /// Background tasks.
        tasks: Vec<BackgroundTask>,
        /// Waiting messages.
        queue: Vec<QueuedMessage>,
        /// The block that is being written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        open_block: Option<OpenBlock>,
    }
    /// Params of `session.rename`.
    struct SessionRenameParams {
        /// The session.
        session_id: SessionId,
        /// 1 to 200 characters.
        title: String,
    }
    /// Params of `session.set`; absent fields stay as they are.
    struct SessionSetParams {
        /// The session.
        session_id: SessionId,
        /// The mode, either vocabulary; holds from the next tool call.
        #[serde(default)]
        agent_mode: Option<Mode>,
        /// The provider, chosen together with the model; holds from the next request.
        #[serde(default)]
        provider: Option<String>,
        /// The model.
        #[serde(default)]
        model: Option<String>,
        /// Must be true to switch to `bypassPermissions`.
        #[serde(default)]
        confirm: Option<bool>,
    }
    /// Params of `permission.answer`.
    struct PermissionAnswerParams {
        /// The request.
        request_id: RequestId,
        /// The decision.
        decision: PermissionDecision,
        /// The rule to store instead of the suggested one.
        #[serde(default)]
        edited_rule: Option<String>,
        /// Why not; the model reads it. At most 2000 characters.
        #[serde(default)]
        reason: Option<String>,
        /// Other arguments for the call; judged again from the start. Not with `deny`.
        #[serde(default)]
        #[ts(type = "Record<string, unknown> | null", optional)]
        edited_args: Option<Map<String, Value>>,
        /// The hash of what was shown; if another call waits by now, nothing runs (-32011).
        #[serde(default)]
        hash: Option<String>,
    }
    /// Params of `permission.reject`.
    struct PermissionRejectParams {
        /// The request.
        request_id: RequestId,
        /// Why not; the model reads it.
        #[serde(default)]
        reason: Option<String>,
    }
    /// Params of `permission.pending`.
    struct PermissionPendingParams {
        /// Only this session.
        #[serde(default)]
        session_id: Option<SessionId>,
    }
    /// What the person picked for one question.
    struct QuestionPick {
        /// The labels of the options.
        labels: Vec<String>,
        /// Their own words, at most 2000 characters.
        #[serde(default)]
        text: Option<String>,
    }
    /// Params of `question.answer`.
    struct QuestionAnswerParams {
        /// The request.
        request_id: RequestId,
        /// One per question, in order; a missing one reads as unanswered.
        #[serde(default)]
        answers: Option<Vec<String>>,
        /// The same with labels and words apart.
        #[serde(default)]
        picks: Option<Vec<QuestionPick>>,
        /// Of a plan: whether it is to be carried out.
        #[serde(default)]
        approved: Option<bool>,
        /// Of a plan: the mode in which.
        #[serde(default)]
        mode: Option<Mode>,
        /// Of a plan: what is wrong with it; the model reads it. At most 2000 characters.
        #[serde(default)]
        reason: Option<String>,
        /// Of a plan: the plan as the person changed it.
        #[serde(default)]
        edited_plan: Option<String>,
    }
    /// Params of `question.reject`.
    struct QuestionRejectParams {
        /// The request.
        request_id: RequestId,
        /// Why; the model reads it.
        #[serde(default)]
        reason: Option<String>,
    }
    /// Params of `question.pending`.
    struct QuestionPendingParams {
        /// Only this session.
        #[serde(default)]
        session_id: Option<SessionId>,
    }
    /// Params of `tasks.list`.
    struct TasksListParams {
        /// The session.
        session_id: SessionId,
    }
    /// Params of `tasks.output`.
    struct TasksOutputParams {
        /// The session.
        session_id: SessionId,
        /// The task.
        task_id: String,
        /// The byte to start at; absent, the newest 64 KiB.
        #[serde(default)]
        offset: Option<u64>,
    }
    /// Result of `tasks.output`.
    struct TasksOutputResult {
        /// At most 64 KiB; bytes that are no UTF-8 read as U+FFFD.
        text: String,
        /// The byte that it starts at.
        offset: u64,
        /// Bytes that there are.
        total: u64,
    }
    /// Params of `tasks.stop`.
    struct TasksStopParams {
        /// The session.
        session_id: SessionId,
        /// The task.
        task_id: String,
    }
    /// Result of `tasks.stop`.
    struct TasksStopResult {
        /// Whether it ran and was stopped.
        stopped: bool,
    }
    /// Params of `providers.list`.
    struct ProvidersListParams {}
    /// One provider.
    struct ProviderInfo {
        /// Its id.
        id: String,
        /// Its name.
        name: String,
        /// What it is.
        description: String,
        /// Whether a key is set; the key itself never crosses the wire.
        has_api_key: bool,
        /// Whether this version can talk to it.
        supported: bool,
        /// `apiKey` or `none`.
        auth_mode: String,
        /// Its models, the default one first.
        models: Vec<String>,
        /// Whether its answers are scripted, not a model's.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>")]
        scripted: bool,
    }
    /// Params of `projects.list`.
    struct ProjectsListParams {}
    /// One project folder.
    struct ProjectRow {
        /// The folder.
        path: String,
        /// Its last component.
        name: String,
        /// When a session was last used in it, ms since the epoch.
        last_opened_at: i64,
        /// Whether it is still there.
        exists: bool,
        /// Whether its present content is trusted.
        trust: TrustState,
        /// Its sessions.
        sessions: u32,
    }
    /// Params of `projects.trustReport`.
    struct ProjectsTrustReportParams {
        /// The folder, absolute.
        path: String,
    }
    /// Result of `projects.trustReport`.
    struct ProjectsTrustReportResult {
        /// Of the content that is reported; `projects.trust` wants it back.
        hash: String,
        /// Whether that is trusted.
        state: TrustState,
        /// What it brings, file by file.
        brings: Vec<Brought>,
    }
    /// Params of `projects.trust`.
    struct ProjectsTrustParams {
        /// The folder, absolute.
        path: String,
        /// The hash of `projects.trustReport`: what was read is what is decided about.
        hash: String,
        /// What is decided.
        decision: TrustDecision,
    }
    /// Params of `host.info`.
    struct HostInfoParams {}
    /// Facts of a host.
    struct HostInfoResult {
        /// The program's version.
        version: String,
        /// The protocol's version.
        protocol: String,
        /// New with every host process.
        epoch: String,
        /// The home folder.
        home: String,
        /// The folder that new sessions start in.
        cwd: String,
        /// The operating system.
        platform: String,
        /// The model that a new session would use; absent if none is set up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Its provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        /// Whether that model is scripted.
        scripted: bool,
    }
    /// Params of `events.subscribe`.
    struct EventsSubscribeParams {
        /// The session.
        session_id: SessionId,
        /// Replays the events after this `seq`.
        #[serde(default)]
        after: Option<u64>,
        /// The epoch that `after` belongs to.
        #[serde(default)]
        epoch: Option<String>,
    }
    /// Result of `events.subscribe`.
    struct EventsSubscribeResult {
        /// The newest `seq`.
        seq: u64,
        /// The host's epoch.
        epoch: String,
        /// Whether events were lost: call `session.open`.
        gap: bool,
    }
    /// Params of `events.unsubscribe`.
    struct EventsUnsubscribeParams {
        /// The session.
        session_id: SessionId,
    }
    /// Params of `rpc.discover`.
    struct RpcDiscoverParams {}
}

/// Result of `tools.list`.
pub type ToolsListResult = Vec<ToolInfo>;
/// Result of `session.list`.
pub type SessionListResult = Vec<SessionRow>;
/// Result of `permission.pending`.
pub type PermissionPendingResult = Vec<PermissionAsked>;
/// Result of `question.pending`.
pub type QuestionPendingResult = Vec<QuestionAsked>;
/// Result of `tasks.list`.
pub type TasksListResult = Vec<BackgroundTask>;
/// Result of `providers.list`.
pub type ProvidersListResult = Vec<ProviderInfo>;
/// Result of `projects.list`.
pub type ProjectsListResult = Vec<ProjectRow>;

/// Result of `rpc.discover`: an OpenRPC document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(transparent)]
pub struct RpcDiscoverResult(#[ts(type = "Record<string, unknown>")] pub Value);

/// Result of `session.send`: the end of the run, or a place in the queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(untagged)]
pub enum SessionSendResult {
    /// The run ended.
    Ended(Box<LoopResult>),
    /// The message waits.
    Queued(Queued),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn method_names_are_unique_and_dotted() {
        let mut names: Vec<_> = METHODS.iter().map(|method| method.name).collect();
        assert!(names.iter().all(|name| name.contains('.')));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), METHODS.len());
    }
}
