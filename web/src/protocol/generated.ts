// Generated from the Rust protocol types by `cargo xtask codegen`; never edit.

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]?: JsonValue } | null;

/**
 * Who speaks.
 */
export type Role = "user" | "assistant";

/**
 * Tokens of one provider response, in the Anthropic shape: `input_tokens` are those
 * neither read from nor written to the cache. What a vendor does not say is absent, not zero.
 */
export type Usage = { 
/**
 * Input tokens that were neither read from nor written to a cache.
 */
input_tokens: number, 
/**
 * Output tokens, reasoning included.
 */
output_tokens: number, 
/**
 * Input tokens written to the cache.
 */
cache_creation_input_tokens?: number, 
/**
 * Input tokens read from the cache.
 */
cache_read_input_tokens?: number, 
/**
 * Part of `output_tokens` that was reasoning.
 */
reasoning_tokens?: number, };

/**
 * A run of changed lines with context around it. Lines count from 1.
 */
export type DiffHunk = { 
/**
 * First line in the old file.
 */
oldStart: number, 
/**
 * Lines of the old file.
 */
oldLines: number, 
/**
 * First line in the new file.
 */
newStart: number, 
/**
 * Lines of the new file.
 */
newLines: number, 
/**
 * The lines in order.
 */
lines: Array<DiffLine>, };

/**
 * One line of a hunk, its line ending left out.
 */
export type DiffLine = { 
/**
 * Context, added or removed.
 */
op: DiffOp, 
/**
 * The line without its ending.
 */
text: string, };

/**
 * A line's part in a hunk.
 */
export type DiffOp = " " | "+" | "-";

/**
 * The change of one file.
 */
export type FileDiff = { 
/**
 * The file, absolute.
 */
path: string, 
/**
 * Added, modified or deleted.
 */
status: FileStatus, 
/**
 * Lines added.
 */
added: number, 
/**
 * Lines removed.
 */
removed: number, 
/**
 * Whether the content is not text; then there are no hunks.
 */
binary: boolean, 
/**
 * The changed places.
 */
hunks: Array<DiffHunk>, 
/**
 * Whether hunks were left out because there are too many lines.
 */
truncated?: boolean, };

/**
 * What happened to a file.
 */
export type FileStatus = "A" | "M" | "D";

/**
 * The kind of a failure: what a caller can do about it.
 */
export type ErrorKind = "usage" | "settings" | "not_found" | "already_resolved" | "busy" | "limit" | "wrong_door" | "not_configured" | "auth" | "billing" | "rate_limit" | "overloaded" | "server" | "network" | "stalled" | "too_large" | "bad_request" | "model_not_found" | "bad_stream" | "budget" | "turns" | "loop" | "interrupted" | "storage" | "internal" | "timeout" | "transfer" | "unauthorized" | "managed" | "stale" | "damaged" | "cancelled" | "forbidden";

/**
 * A part of a command that deserves a look; `start` and `end` are byte offsets.
 */
export type AskSpan = { 
/**
 * First byte.
 */
start: number, 
/**
 * The byte after the last.
 */
end: number, 
/**
 * What is dangerous about it.
 */
why: string, };

/**
 * One thing that a call touches.
 */
export type AskTarget = { 
/**
 * A file or folder, links resolved.
 */
path?: string | null, 
/**
 * A host.
 */
host?: string | null, 
/**
 * Whether it lies outside the project.
 */
outside: boolean, };

/**
 * Why a run ended.
 */
export type DoneReason = "end" | "interrupted" | "failed" | "budget" | "loop";

/**
 * One event of one session, or of the host if it names no session.
 */
export type Event = { 
/**
 * The session that it belongs to.
 */
sessionId?: SessionId | null, 
/**
 * Rises by one with each event of a session while one host serves it; absent on host events.
 */
seq?: number | null, 
/**
 * New whenever another host process serves the session.
 */
epoch?: string | null, 
/**
 * The run that it belongs to.
 */
runId?: RunId | null, } & ({ "type": "session.created", projectPath: string, } | { "type": "user_message", messageId: MessageId, clientId?: string | null, queuedId?: string | null, blocks: Array<TranscriptBlock>, } | { "type": "text_delta", delta: string, 
/**
 * The message of the provider response.
 */
messageId: MessageId, 
/**
 * The block's position in the response, from 0.
 */
block: number, 
/**
 * The delta's ordinal in its block, from 0.
 */
n: number, } | { "type": "thinking_delta", delta: string, 
/**
 * The message of the provider response.
 */
messageId: MessageId, 
/**
 * The block's position in the response, from 0.
 */
block: number, 
/**
 * The delta's ordinal in its block, from 0.
 */
n: number, } | { "type": "text", content: string, messageId: MessageId, } | { "type": "thinking", content: string, messageId: MessageId, } | { "type": "tool_input", toolCallId: ToolCallId, toolName: string, chars: number, } | { "type": "tool_start", toolCallId: ToolCallId, toolName: string, args: Record<string, unknown>, title: string, messageId: MessageId, } | { "type": "tool_progress", toolCallId: ToolCallId, elapsedMs: number, bytes: number, tail: string, } | { "type": "tool_output", toolCallId: ToolCallId, content: string, } | { "type": "tool_complete", toolCallId: ToolCallId, toolName: string, result: string, success: boolean, duration_ms?: number | null, deniedBy?: string | null, truncated?: Truncated | null, } | { "type": "session.diff", toolCallId: ToolCallId, diff: Array<FileDiff>, added: number, removed: number, } | { "type": "hook.triggered", hookName: string, event: string, outcome: string, ms: number, reason?: string | null, toolCallId?: ToolCallId | null, } | { "type": "hook.blocked", hookName: string, event: string, reason: string, toolCallId?: ToolCallId | null, } | { "type": "permission_asked" } & PermissionAsked | { "type": "permission.answered", requestId: RequestId, answer: PermissionAnswer, } | { "type": "permission.rejected", requestId: RequestId, reason?: string | null, } | { "type": "question_asked" } & QuestionAsked | { "type": "question.answered", requestId: RequestId, 
/**
 * One per question, in order; empty for a plan.
 */
answers: Array<string>, } | { "type": "question.rejected", requestId: RequestId, reason?: string | null, } | { "type": "notice", level: NoticeLevel, content: string, key?: string | null, args?: Record<string, unknown>, } | { "type": "stream_reset", messageId: MessageId, } | { "type": "usage_totals", totalInputTokens: number, totalOutputTokens: number, totalCacheReadTokens: number, totalCacheWriteTokens?: number | null, contextTokens?: number | null, window?: number | null, } | { "type": "message_queued", id: string, content: string, } | { "type": "message_dequeued", id: string, } | { "type": "message_started", id: string, } | { "type": "options_changed", agentMode: string, permissionMode: Mode, provider?: string | null, model?: string | null, } | { "type": "todos_updated", todos: Array<Todo>, } | { "type": "task_updated", task: BackgroundTask, } | { "type": "session.error", error: string, kind: ErrorKind, hint?: string | null, } | { "type": "session.updated", } | { "type": "done", content: string, messageId: MessageId, ms: number, model: string, reason: DoneReason, queuedId?: string | null, } | { "type": "session.changed", row: SessionRow, } | { "type": "session.removed", } | { "type": "stream_gap", from: number, to: number, });

/**
 * How loud a notice is.
 */
export type NoticeLevel = "info" | "warn";

/**
 * How a permission request was answered.
 */
export type PermissionAnswer = { 
/**
 * The decision.
 */
decision: PermissionDecision, 
/**
 * The rule as the person changed it.
 */
editedRule?: string | null, 
/**
 * The person's reason for a `deny`.
 */
reason?: string | null, };

/**
 * An open permission request, as `permission_asked` and `permission.pending` give it.
 */
export type PermissionAsked = { 
/**
 * Name this in `permission.answer`.
 */
requestId: RequestId, 
/**
 * The call that waits.
 */
toolCallId: ToolCallId, 
/**
 * Its tool.
 */
toolName: string, 
/**
 * Its final arguments.
 */
args: Record<string, unknown>, 
/**
 * One line that says what would happen.
 */
description: string, 
/**
 * A rule that would allow this and its like.
 */
suggestedRule?: string | null, 
/**
 * The decisions beyond this one call, with the rule of each and what it covers; none
 * where no rule would allow it.
 */
suggestions?: Array<PermissionSuggestion>, 
/**
 * Why it is asked.
 */
reason?: string | null, 
/**
 * The session's working folder.
 */
cwd: string, 
/**
 * The mode in force.
 */
mode: Mode, 
/**
 * The paths and hosts that it touches, links resolved.
 */
targets: Array<AskTarget>, 
/**
 * Dangerous parts of a command.
 */
spans: Array<AskSpan>, 
/**
 * What an edit would change.
 */
diff?: Array<FileDiff> | null, 
/**
 * Hash of what was shown; an answer may repeat it to be sure (-32011 if it differs).
 */
hash: string, 
/**
 * When it was asked, ms since the epoch.
 */
askedAt: number, 
/**
 * When it counts as denied; absent means never.
 */
expiresAt?: number | null, };

/**
 * A decision that holds beyond one call.
 */
export type PermissionSuggestion = { 
/**
 * The decision.
 */
decision: PermissionDecision, 
/**
 * The rule that it stores.
 */
rule: string, 
/**
 * What the rule allows from then on, in words.
 */
covers: string, };

/**
 * Something that a plan wants to do without further questions.
 */
export type PlanAllowed = { 
/**
 * The tool.
 */
tool: string, 
/**
 * What it is to do.
 */
text: string, };

/**
 * An open question or plan, as `question_asked` and `question.pending` give it.
 */
export type QuestionAsked = { 
/**
 * Name this in `question.answer`.
 */
requestId: RequestId, 
/**
 * The call that waits.
 */
toolCallId: ToolCallId, 
/**
 * What is asked.
 */
kind: QuestionKind, 
/**
 * The questions; empty for a plan.
 */
questions: Array<QuestionSpec>, 
/**
 * The plan, as Markdown.
 */
plan?: string | null, 
/**
 * What the plan wants to do without further questions.
 */
allowed?: Array<PlanAllowed>, 
/**
 * The modes in which an approved plan can be carried out.
 */
modes?: Array<Mode>, 
/**
 * When it was asked, ms since the epoch.
 */
askedAt: number, 
/**
 * When it counts as refused; absent means never.
 */
expiresAt?: number | null, };

/**
 * What the person is asked.
 */
export type QuestionKind = "question" | "plan";

/**
 * One option of a question.
 */
export type QuestionOption = { 
/**
 * What the answer names.
 */
label: string, 
/**
 * What choosing it means.
 */
description?: string, 
/**
 * What it would look like, as Markdown.
 */
preview?: string | null, };

/**
 * One question (ipc.md 2.11).
 */
export type QuestionSpec = { 
/**
 * The question.
 */
question: string, 
/**
 * A word or two that name it.
 */
header?: string, 
/**
 * What can be chosen.
 */
options: Array<QuestionOption>, 
/**
 * Whether several can be chosen.
 */
multiple?: boolean, 
/**
 * Whether free text can be given instead.
 */
custom: boolean, };

/**
 * A text was cut for the wire.
 */
export type Truncated = { 
/**
 * Length of the whole in bytes.
 */
total: number, };

/**
 * A message: the uuid of the first log entry it stands for (ipc.md section 10).
 */
export type MessageId = string;

/**
 * An open question to the person: permission, question or plan.
 */
export type RequestId = string;

/**
 * One run: from a prompt to its end.
 */
export type RunId = string;

/**
 * A session: a version-4 UUID (ipc.md 2.2).
 */
export type SessionId = string;

/**
 * A tool call, as the model named it.
 */
export type ToolCallId = string;

/**
 * Params of `events.subscribe`.
 */
export type EventsSubscribeParams = { 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * Replays the events after this `seq`.
 */
after?: number | null, 
/**
 * The epoch that `after` belongs to.
 */
epoch?: string | null, };

/**
 * Result of `events.subscribe`.
 */
export type EventsSubscribeResult = { 
/**
 * The newest `seq`.
 */
seq: number, 
/**
 * The host's epoch.
 */
epoch: string, 
/**
 * Whether events were lost: call `session.open`.
 */
gap: boolean, };

/**
 * Params of `events.unsubscribe`.
 */
export type EventsUnsubscribeParams = { 
/**
 * The session.
 */
sessionId: SessionId, };

/**
 * Params of `host.info`.
 */
export type HostInfoParams = Record<symbol, never>;

/**
 * Facts of a host.
 */
export type HostInfoResult = { 
/**
 * The program's version.
 */
version: string, 
/**
 * The protocol's version.
 */
protocol: string, 
/**
 * New with every host process.
 */
epoch: string, 
/**
 * The home folder.
 */
home: string, 
/**
 * The folder that new sessions start in.
 */
cwd: string, 
/**
 * The operating system.
 */
platform: string, 
/**
 * The model that a new session would use; absent if none is set up.
 */
model?: string | null, 
/**
 * Its provider.
 */
provider?: string | null, 
/**
 * Whether that model is scripted.
 */
scripted: boolean, };

/**
 * The block that is being written right now.
 */
export type OpenBlock = { 
/**
 * The message that it belongs to.
 */
messageId: MessageId, 
/**
 * Its position in the response.
 */
block: number, 
/**
 * The ordinal of the next delta.
 */
n: number, 
/**
 * Whether it is reasoning.
 */
thinking: boolean, 
/**
 * What is there so far.
 */
text: string, };

/**
 * Params of `permission.answer`.
 */
export type PermissionAnswerParams = { 
/**
 * The request.
 */
requestId: RequestId, 
/**
 * The decision.
 */
decision: PermissionDecision, 
/**
 * The rule to store instead of the suggested one.
 */
editedRule?: string | null, 
/**
 * Why not; the model reads it. At most 2000 characters.
 */
reason?: string | null, 
/**
 * Other arguments for the call; judged again from the start. Not with `deny`.
 */
editedArgs?: Record<string, unknown> | null, 
/**
 * The hash of what was shown; if another call waits by now, nothing runs (-32011).
 */
hash?: string | null, };

/**
 * Params of `permission.pending`.
 */
export type PermissionPendingParams = { 
/**
 * Only this session.
 */
sessionId?: SessionId | null, };

/**
 * Params of `permission.reject`.
 */
export type PermissionRejectParams = { 
/**
 * The request.
 */
requestId: RequestId, 
/**
 * Why not; the model reads it.
 */
reason?: string | null, };

/**
 * One project folder.
 */
export type ProjectRow = { 
/**
 * The folder.
 */
path: string, 
/**
 * Its last component.
 */
name: string, 
/**
 * When a session was last used in it, ms since the epoch.
 */
lastOpenedAt: number, 
/**
 * Whether it is still there.
 */
exists: boolean, 
/**
 * Whether its present content is trusted.
 */
trust: TrustState, 
/**
 * Its sessions.
 */
sessions: number, };

/**
 * Params of `projects.list`.
 */
export type ProjectsListParams = Record<symbol, never>;

/**
 * Params of `projects.trust`.
 */
export type ProjectsTrustParams = { 
/**
 * The folder, absolute.
 */
path: string, 
/**
 * The hash of `projects.trustReport`: what was read is what is decided about.
 */
hash: string, 
/**
 * What is decided.
 */
decision: TrustDecision, };

/**
 * Params of `projects.trustReport`.
 */
export type ProjectsTrustReportParams = { 
/**
 * The folder, absolute.
 */
path: string, };

/**
 * Result of `projects.trustReport`.
 */
export type ProjectsTrustReportResult = { 
/**
 * Of the content that is reported; `projects.trust` wants it back.
 */
hash: string, 
/**
 * Whether that is trusted.
 */
state: TrustState, 
/**
 * What it brings, file by file.
 */
brings: Array<Brought>, };

/**
 * An image in a prompt.
 */
export type PromptImage = { 
/**
 * Base64.
 */
data: string, 
/**
 * Such as `image/png`.
 */
mediaType: string, 
/**
 * What it shows.
 */
altText?: string | null, };

/**
 * One provider.
 */
export type ProviderInfo = { 
/**
 * Its id.
 */
id: string, 
/**
 * Its name.
 */
name: string, 
/**
 * What it is.
 */
description: string, 
/**
 * Whether a key is set; the key itself never crosses the wire.
 */
hasApiKey: boolean, 
/**
 * Whether this version can talk to it.
 */
supported: boolean, 
/**
 * `apiKey` or `none`.
 */
authMode: string, 
/**
 * Its models, the default one first.
 */
models: Array<string>, 
/**
 * Whether its answers are scripted, not a model's.
 */
scripted?: boolean | null, };

/**
 * Params of `providers.list`.
 */
export type ProvidersListParams = Record<symbol, never>;

/**
 * Params of `question.answer`.
 */
export type QuestionAnswerParams = { 
/**
 * The request.
 */
requestId: RequestId, 
/**
 * One per question, in order; a missing one reads as unanswered.
 */
answers?: Array<string> | null, 
/**
 * The same with labels and words apart.
 */
picks?: Array<QuestionPick> | null, 
/**
 * Of a plan: whether it is to be carried out.
 */
approved?: boolean | null, 
/**
 * Of a plan: the mode in which.
 */
mode?: Mode | null, 
/**
 * Of a plan: what is wrong with it; the model reads it. At most 2000 characters.
 */
reason?: string | null, 
/**
 * Of a plan: the plan as the person changed it.
 */
editedPlan?: string | null, };

/**
 * Params of `question.pending`.
 */
export type QuestionPendingParams = { 
/**
 * Only this session.
 */
sessionId?: SessionId | null, };

/**
 * What the person picked for one question.
 */
export type QuestionPick = { 
/**
 * The labels of the options.
 */
labels: Array<string>, 
/**
 * Their own words, at most 2000 characters.
 */
text?: string | null, };

/**
 * Params of `question.reject`.
 */
export type QuestionRejectParams = { 
/**
 * The request.
 */
requestId: RequestId, 
/**
 * Why; the model reads it.
 */
reason?: string | null, };

/**
 * The message waits.
 */
export type Queued = { 
/**
 * Always true.
 */
queued: boolean, 
/**
 * Name this in `session.dequeue`.
 */
id: string, };

/**
 * A waiting message.
 */
export type QueuedMessage = { 
/**
 * Its id.
 */
id: string, 
/**
 * Its text.
 */
content: string, 
/**
 * When it was queued, ms since the epoch.
 */
queuedAt: number, };

/**
 * Params of `rpc.discover`.
 */
export type RpcDiscoverParams = Record<symbol, never>;

/**
 * Result of `rpc.discover`: an OpenRPC document.
 */
export type RpcDiscoverResult = Record<string, unknown>;

/**
 * Params of `session.dequeue`.
 */
export type SessionDequeueParams = { 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * The waiting message.
 */
id: string, };

/**
 * Result of `session.dequeue`.
 */
export type SessionDequeueResult = { 
/**
 * Whether it was still waiting.
 */
removed: boolean, };

/**
 * Params of `session.list`.
 */
export type SessionListParams = { 
/**
 * Only this project folder.
 */
projectPath?: string | null, 
/**
 * Only this status; deleted ones are hidden unless asked for.
 */
status?: SessionStatus | null, };

/**
 * Params of `session.open`.
 */
export type SessionOpenParams = { 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * At most so many turns, counted from the end; 30 if absent.
 */
turns?: number | null, };

/**
 * Result of `session.open`.
 */
export type SessionOpenResult = { 
/**
 * Its row.
 */
row: SessionRow, 
/**
 * Its transcript, oldest first.
 */
messages: Array<TranscriptMessage>, 
/**
 * Whether older messages were left out.
 */
older: boolean, 
/**
 * The place in the event stream that this belongs to.
 */
seq: number, 
/**
 * The host's epoch.
 */
epoch: string, 
/**
 * Open permission requests.
 */
requests: Array<PermissionAsked>, 
/**
 * Open questions and plans.
 */
questions: Array<QuestionAsked>, 
/**
 * The to-do list.
 */
todos: Array<Todo>, 
/**
 * Background tasks.
 */
tasks: Array<BackgroundTask>, 
/**
 * Waiting messages.
 */
queue: Array<QueuedMessage>, 
/**
 * The block that is being written.
 */
openBlock?: OpenBlock | null, };

/**
 * Params of `session.rename`.
 */
export type SessionRenameParams = { 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * 1 to 200 characters.
 */
title: string, };

/**
 * Params of `session.resume`.
 */
export type SessionResumeParams = { 
/**
 * The session.
 */
sessionId: SessionId, };

/**
 * Result of `session.resume`.
 */
export type SessionResumeResult = { 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * Its transcript in the shape of the reference.
 */
messages: Array<SerializedMessage>, 
/**
 * Its facts.
 */
meta: SessionMeta, 
/**
 * Its provider.
 */
provider: string, 
/**
 * Its model.
 */
model?: string | null, 
/**
 * Its mode, short vocabulary.
 */
agentMode: string, 
/**
 * Its mode, exact name.
 */
permissionMode: Mode, 
/**
 * Whether a run goes on.
 */
running: boolean, };

/**
 * Params of `session.send`.
 */
export type SessionSendParams = { 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * The prompt.
 */
message: string, 
/**
 * Pictures that belong to it.
 */
images?: Array<PromptImage> | null, 
/**
 * The provider from now on.
 */
provider?: string | null, 
/**
 * The model from now on.
 */
model?: string | null, 
/**
 * The mode from now on.
 */
agentMode?: Mode | null, 
/**
 * The same id within 24 h gives the first result again.
 */
clientId?: string | null, };

/**
 * Result of `session.send`: the end of the run, or a place in the queue.
 */
export type SessionSendResult = LoopResult | Queued;

/**
 * Params of `session.set`; absent fields stay as they are.
 */
export type SessionSetParams = { 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * The mode, either vocabulary; holds from the next tool call.
 */
agentMode?: Mode | null, 
/**
 * The provider, chosen together with the model; holds from the next request.
 */
provider?: string | null, 
/**
 * The model.
 */
model?: string | null, 
/**
 * Must be true to switch to `bypassPermissions`.
 */
confirm?: boolean | null, };

/**
 * Params of `session.start`.
 */
export type SessionStartParams = { 
/**
 * The project folder, absolute; absent means the host's own working folder.
 */
projectPath?: string | null, 
/**
 * Takes a `projectPath` that does not exist by falling back to the host's folder.
 */
allowMissing?: boolean | null, 
/**
 * The provider, chosen together with the model.
 */
provider?: string | null, 
/**
 * The model: an id of the provider, an alias, or `provider/id`.
 */
model?: string | null, 
/**
 * The mode, either vocabulary.
 */
agentMode?: Mode | null, 
/**
 * The same id within 24 h gives the first result again.
 */
clientId?: string | null, };

/**
 * Result of `session.start`: what is in force.
 */
export type SessionStartResult = { 
/**
 * The new session.
 */
sessionId: SessionId, 
/**
 * Its project folder.
 */
projectPath: string, 
/**
 * Its provider; absent if none is set up yet.
 */
provider?: string | null, 
/**
 * Its model.
 */
model?: string | null, };

/**
 * Params of `session.stop`.
 */
export type SessionStopParams = { 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * Drops waiting messages too.
 */
clearQueue?: boolean | null, };

/**
 * Params of `tasks.list`.
 */
export type TasksListParams = { 
/**
 * The session.
 */
sessionId: SessionId, };

/**
 * Params of `tasks.output`.
 */
export type TasksOutputParams = { 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * The task.
 */
taskId: string, 
/**
 * The byte to start at; absent, the newest 64 KiB.
 */
offset?: number | null, };

/**
 * Result of `tasks.output`.
 */
export type TasksOutputResult = { 
/**
 * At most 64 KiB; bytes that are no UTF-8 read as U+FFFD.
 */
text: string, 
/**
 * The byte that it starts at.
 */
offset: number, 
/**
 * Bytes that there are.
 */
total: number, };

/**
 * Params of `tasks.stop`.
 */
export type TasksStopParams = { 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * The task.
 */
taskId: string, };

/**
 * Result of `tasks.stop`.
 */
export type TasksStopResult = { 
/**
 * Whether it ran and was stopped.
 */
stopped: boolean, };

/**
 * One tool.
 */
export type ToolInfo = { 
/**
 * Its canonical name.
 */
id: string, 
/**
 * The text that the model reads.
 */
description: string, 
/**
 * JSON Schema of its arguments.
 */
parameters: Record<string, unknown>, };

/**
 * Params of `tools.list`.
 */
export type ToolsListParams = Record<symbol, never>;

/**
 * What happens to a tool call where no rule and no hook decides.
 *
 * The wire form is the exact name (`permissionMode`); [`Mode::ipc_name`] gives the
 * shorter vocabulary (`agentMode`). Both, and `manual`, are accepted on input.
 */
export type Mode = "default" | "acceptEdits" | "plan" | "review" | "explore" | "dontAsk" | "auto" | "bypassPermissions";

/**
 * Where a session stands after a run.
 */
export type FinalState = { 
/**
 * `idle`, `error` or `stopped`.
 */
status: string, 
/**
 * The session.
 */
sessionId: SessionId, 
/**
 * Its project folder.
 */
projectPath: string, 
/**
 * Prompts so far.
 */
turnCount: number, 
/**
 * Provider calls of the run.
 */
iterationCount: number, 
/**
 * Mode, short vocabulary.
 */
agentMode: string, };

/**
 * How `session.send` ended its run (ipc.md 2.2.1).
 */
export type LoopResult = { 
/**
 * False if the run failed; that is a result, not an error.
 */
success: boolean, 
/**
 * "Done", "Interrupted", or what went wrong.
 */
message: string, 
/**
 * The last words of the model.
 */
content?: string | null, 
/**
 * The kind of the failure.
 */
kind?: ErrorKind | null, 
/**
 * What to do about the failure.
 */
hint?: string | null, 
/**
 * Prompts of the session so far.
 */
turnCount: number, 
/**
 * Provider calls of this run.
 */
iterationCount: number, 
/**
 * Where the session stands now.
 */
finalState: FinalState, 
/**
 * Tokens of this run; inputs contain cache reads and writes.
 */
usage?: LoopUsage | null, };

/**
 * Tokens of a run.
 */
export type LoopUsage = { 
/**
 * All input tokens.
 */
inputTokens: number, 
/**
 * All output tokens.
 */
outputTokens: number, 
/**
 * Part of the input that was read from the cache.
 */
cacheReadInputTokens?: number | null, 
/**
 * Part of the input that was written to the cache.
 */
cacheCreationInputTokens?: number | null, 
/**
 * Input of the last provider call: the window's occupancy.
 */
contextTokens?: number | null, };

/**
 * A piece of a [`SerializedMessage`].
 */
export type MessagePart = { "type": "text", content: string, } | { "type": "tool", tool: PartTool, result?: string | null, } | { "type": "image", data: string, mediaType: string, };

/**
 * The call in a tool part.
 */
export type PartTool = { 
/**
 * The call's id.
 */
id: ToolCallId, 
/**
 * The tool.
 */
name: string, 
/**
 * Its arguments.
 */
args: Record<string, unknown>, };

/**
 * What a person decides on a permission request (ipc.md 2.8).
 */
export type PermissionDecision = "allow-once" | "allow-session" | "allow-project" | "allow-always" | "deny";

/**
 * A message in the shape of the reference (ipc.md 2.11), as `session.resume` answers it.
 */
export type SerializedMessage = { 
/**
 * The uuid of its first log entry.
 */
id: MessageId, 
/**
 * Who speaks.
 */
role: Role, 
/**
 * Its pieces.
 */
parts: Array<MessagePart>, 
/**
 * When, ms since the epoch.
 */
timestamp: number, 
/**
 * Whether it was cut off.
 */
interrupted?: boolean, };

/**
 * Facts of a session, never its transcript.
 */
export type SessionMeta = { 
/**
 * The session.
 */
id: SessionId, 
/**
 * Its title: the person's, else a generated one, else the first prompt.
 */
title: string, 
/**
 * Its project folder.
 */
projectPath: string, 
/**
 * The provider pinned to it.
 */
provider: string, 
/**
 * The model pinned to it.
 */
model?: string | null, 
/**
 * Its stored state.
 */
status: SessionStatus, 
/**
 * First entry, ms since the epoch.
 */
createdAt: number, 
/**
 * Last change, ms since the epoch.
 */
updatedAt: number, 
/**
 * End of the last turn, ms since the epoch.
 */
lastTurnAt: number, 
/**
 * Prompts so far.
 */
turnCount: number, 
/**
 * The session that it was forked from.
 */
parentId?: SessionId | null, };

/**
 * A row of the session list: facts and what it is doing.
 */
export type SessionRow = { 
/**
 * What it is doing.
 */
state: SessionState, 
/**
 * Requests that wait for the person.
 */
pending: number, 
/**
 * Size of its log in bytes.
 */
bytes: number, 
/**
 * The mode in force, exact name.
 */
permissionMode: Mode, 
/**
 * The process that owns it, if that is not this one.
 */
lockedBy?: number | null, 
/**
 * Whether its answers are scripted, not a model's.
 */
scripted?: boolean, 
/**
 * The session.
 */
id: SessionId, 
/**
 * Its title: the person's, else a generated one, else the first prompt.
 */
title: string, 
/**
 * Its project folder.
 */
projectPath: string, 
/**
 * The provider pinned to it.
 */
provider: string, 
/**
 * The model pinned to it.
 */
model?: string | null, 
/**
 * Its stored state.
 */
status: SessionStatus, 
/**
 * First entry, ms since the epoch.
 */
createdAt: number, 
/**
 * Last change, ms since the epoch.
 */
updatedAt: number, 
/**
 * End of the last turn, ms since the epoch.
 */
lastTurnAt: number, 
/**
 * Prompts so far.
 */
turnCount: number, 
/**
 * The session that it was forked from.
 */
parentId?: SessionId | null, };

/**
 * What a session is doing now.
 */
export type SessionState = "idle" | "running" | "needsYou" | "failed";

/**
 * The stored state of a session.
 */
export type SessionStatus = "active" | "interrupted" | "archived" | "deleted";

/**
 * One piece of a transcript message.
 */
export type TranscriptBlock = { "type": "text", text: string, } | { "type": "thinking", thinking: string, } | { "type": "tool_use", id: ToolCallId, name: string, input: Record<string, unknown>, title: string, } | { "type": "tool_result", toolUseId: ToolCallId, content: string, ok: boolean, ms?: number | null, deniedBy?: string | null, diff?: Array<FileDiff> | null, truncated?: Truncated | null, } | { "type": "image", mediaType: string, data: string, } | { "type": "notice", level: NoticeLevel, content: string, };

/**
 * One message of a transcript.
 */
export type TranscriptMessage = { 
/**
 * The uuid of its first log entry.
 */
id: MessageId, 
/**
 * Who speaks.
 */
role: Role, 
/**
 * What is said and done, in order; a tool's result follows its call.
 */
blocks: Array<TranscriptBlock>, 
/**
 * When, ms since the epoch.
 */
at: number, 
/**
 * Whether it was cut off.
 */
interrupted?: boolean, 
/**
 * The model that spoke.
 */
model?: string | null, 
/**
 * Tokens of the response; on at most one message per provider response.
 */
usage?: Usage | null, };

/**
 * Work that goes on while the conversation does (ipc.md 11.5, `tasks.list`).
 */
export type BackgroundTask = { 
/**
 * Names it in the session.
 */
id: string, 
/**
 * What it is.
 */
kind: TaskKind, 
/**
 * One line for a person.
 */
title: string, 
/**
 * The command, if it is one.
 */
command?: string | null, 
/**
 * How it is doing.
 */
state: TaskState, 
/**
 * When it started, ms since the epoch.
 */
startedAt: number, 
/**
 * When it ended, ms since the epoch.
 */
endedAt?: number | null, 
/**
 * The exit code, if it ended by itself.
 */
exitCode?: number | null, 
/**
 * The call that started it.
 */
toolCallId: ToolCallId, 
/**
 * The file that takes its output.
 */
outputFile?: string | null, };

/**
 * What kind of work goes on in the background.
 */
export type TaskKind = "shell" | "monitor" | "agent";

/**
 * How work in the background is doing.
 */
export type TaskState = "running" | "completed" | "failed" | "stopped";

/**
 * One item of the to-do list (agent-sdk.md section 6, TodoWrite).
 */
export type Todo = { 
/**
 * What is to be done, as an order.
 */
content: string, 
/**
 * How far it is.
 */
status: TodoStatus, 
/**
 * The same while it is being done, such as `Running the tests`.
 */
activeForm?: string, 
/**
 * The item's own name, if its writer gave one.
 */
id?: string | null, };

/**
 * How far a to-do item or a planned task is.
 */
export type TodoStatus = "pending" | "in_progress" | "completed";

/**
 * One thing that a repository brings.
 */
export type Brought = { 
/**
 * What kind of thing.
 */
kind: BroughtKind, 
/**
 * What it would do, in one line.
 */
text: string, 
/**
 * Where it stands.
 */
file: string, 
/**
 * The line in it, from 1.
 */
line?: number | null, 
/**
 * Whether it waits for trust; else it forbids and counts at once, or never counts.
 */
loosens: boolean, };

/**
 * What kind of thing a repository brings.
 */
export type BroughtKind = "hook" | "mcp" | "env" | "endpoint" | "rule" | "command" | "plugin" | "mode";

/**
 * What is decided about the content of a project.
 */
export type TrustDecision = "trust" | "deny" | "revoke";

/**
 * Whether the present content of a project is trusted.
 */
export type TrustState = "yes" | "no" | "changed" | "denied";

/** Every method: its params and its result. */
export type Methods = {
  /** The tools that a session offers, with their parameters as JSON Schema. */
  "tools.list": { params: ToolsListParams; result: Array<ToolInfo> };
  /** Starts a session in a project folder. */
  "session.start": { params: SessionStartParams; result: SessionStartResult };
  /** Sends a message and answers at the end of its run; while the session is busy the message waits in its queue. */
  "session.send": { params: SessionSendParams; result: SessionSendResult };
  /** Takes a waiting message out of the queue. */
  "session.dequeue": { params: SessionDequeueParams; result: SessionDequeueResult };
  /** Stops the running turn of a session; an idle session is no error. */
  "session.stop": { params: SessionStopParams; result: null };
  /** Lists sessions, newest turn first. */
  "session.list": { params: SessionListParams; result: Array<SessionRow> };
  /** Loads a session, so that it can be sent to, and gives its transcript. */
  "session.resume": { params: SessionResumeParams; result: SessionResumeResult };
  /** Looks at a session without loading it: transcript, open requests and place in the event stream. */
  "session.open": { params: SessionOpenParams; result: SessionOpenResult };
  /** Gives a session a title. */
  "session.rename": { params: SessionRenameParams; result: null };
  /** Sets mode or model of a session. */
  "session.set": { params: SessionSetParams; result: SessionRow };
  /** Answers a permission request. */
  "permission.answer": { params: PermissionAnswerParams; result: null };
  /** Refuses a permission request. */
  "permission.reject": { params: PermissionRejectParams; result: null };
  /** The permission requests that wait for an answer. */
  "permission.pending": { params: PermissionPendingParams; result: Array<PermissionAsked> };
  /** Answers questions, or decides on a plan. */
  "question.answer": { params: QuestionAnswerParams; result: null };
  /** Refuses questions or a plan. */
  "question.reject": { params: QuestionRejectParams; result: null };
  /** The questions and plans that wait for an answer. */
  "question.pending": { params: QuestionPendingParams; result: Array<QuestionAsked> };
  /** The commands and agents of a session that go on in the background, and those that ended. */
  "tasks.list": { params: TasksListParams; result: Array<BackgroundTask> };
  /** What a background task wrote, from a place on. */
  "tasks.output": { params: TasksOutputParams; result: TasksOutputResult };
  /** Stops a background task and everything that it started. */
  "tasks.stop": { params: TasksStopParams; result: TasksStopResult };
  /** The providers that can be used, and which have a key. */
  "providers.list": { params: ProvidersListParams; result: Array<ProviderInfo> };
  /** The project folders that sessions were started in, newest first. */
  "projects.list": { params: ProjectsListParams; result: Array<ProjectRow> };
  /** What a project's present content brings that could act, and whether it is trusted. */
  "projects.trustReport": { params: ProjectsTrustReportParams; result: ProjectsTrustReportResult };
  /** Trusts exactly the content that was reported, refuses it, or takes the trust back. */
  "projects.trust": { params: ProjectsTrustParams; result: ProjectRow };
  /** Facts of this host. */
  "host.info": { params: HostInfoParams; result: HostInfoResult };
  /** Subscribes this connection to the events of a session, after a place in its stream. */
  "events.subscribe": { params: EventsSubscribeParams; result: EventsSubscribeResult };
  /** Ends a subscription. */
  "events.unsubscribe": { params: EventsUnsubscribeParams; result: null };
  /** This protocol as an OpenRPC document. */
  "rpc.discover": { params: RpcDiscoverParams; result: RpcDiscoverResult };
};
