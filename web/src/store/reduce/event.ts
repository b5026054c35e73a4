// What each event does to a thread, once its turn has come. Exhaustive over the generated union.
import type { EventOf, KnownEvent } from "../../protocol";
import type { Part, Thread, ToolPart } from "../state";
import { putMessage, toolPart, userMessage, withMessage, withTool } from "./messages";
import { delta, finish, reset, settle } from "./words";

/** The compiler proves that nothing comes here; at run time the state stays as it was. */
export function never<T>(_value: never, state: T): T {
  return state;
}

export function applyEvent(thread: Thread, event: KnownEvent, at: number): Thread {
  switch (event.type) {
    case "session.created":
      return { ...thread, running: true, runFailure: null };
    case "user_message":
      return person(thread, event, at);
    case "text_delta":
      return delta(thread, event, "text", at);
    case "thinking_delta":
      return delta(thread, event, "thinking", at);
    case "text":
      return finish(thread, event.messageId, "text", event.content, at);
    case "thinking":
      return finish(thread, event.messageId, "thinking", event.content, at);
    case "tool_input":
      return {
        ...thread,
        writing: { toolCallId: event.toolCallId, toolName: event.toolName, chars: event.chars },
      };
    case "tool_start":
      return toolStart(thread, event, at);
    case "tool_progress":
      return withTool(thread, event.toolCallId, (tool) => ({
        ...tool,
        elapsedMs: event.elapsedMs,
        tail: event.tail,
      }));
    case "tool_output":
      return withTool(thread, event.toolCallId, (tool) => ({ ...tool, tail: event.content }));
    case "tool_complete":
      return withTool(thread, event.toolCallId, (tool) => complete(tool, event));
    case "session.diff":
      return withTool(thread, event.toolCallId, (tool) => ({ ...tool, diff: event.diff }));
    case "permission_asked":
      return asked(thread, event, at);
    case "permission.answered":
    case "permission.rejected":
      return {
        ...thread,
        requests: thread.requests.filter((request) => request.requestId !== event.requestId),
      };
    case "question_asked":
      return {
        ...thread,
        questions: [...withoutQuestion(thread, event.requestId), event],
        writing: null,
      };
    case "question.answered":
    case "question.rejected":
      return { ...thread, questions: withoutQuestion(thread, event.requestId) };
    case "todos_updated":
      return { ...thread, todos: event.todos };
    case "task_updated":
      return { ...thread, tasks: withTask(thread.tasks, event.task) };
    case "notice":
      return notice(thread, event, at);
    case "stream_reset":
      return reset(thread, event.messageId);
    case "usage_totals":
      return {
        ...thread,
        usage: {
          input: event.totalInputTokens,
          output: event.totalOutputTokens,
          cacheRead: event.totalCacheReadTokens,
          context: event.contextTokens ?? thread.usage?.context ?? null,
          window: event.window ?? thread.usage?.window ?? null,
        },
      };
    case "message_queued":
      return {
        ...thread,
        queue: [
          ...thread.queue.filter((waiting) => waiting.id !== event.id),
          { id: event.id, content: event.content, queuedAt: at },
        ],
        outgoing: withoutFirst(thread, event.content),
      };
    case "message_dequeued":
    case "message_started":
      return { ...thread, queue: thread.queue.filter((waiting) => waiting.id !== event.id) };
    case "session.error":
      return {
        ...thread,
        runFailure: { message: event.error, kind: event.kind, hint: event.hint ?? null },
      };
    case "done":
      return done(thread, event);
    case "stream_gap":
      return { ...thread, stale: !thread.opening };
    case "options_changed":
    case "session.updated":
    // What they did shows in the call or the notice that they are about.
    case "hook.triggered":
    case "hook.blocked":
    case "session.changed":
    case "session.removed":
      return thread;
    default:
      return never(event, thread);
  }
}

function withoutQuestion(thread: Thread, requestId: string): Thread["questions"] {
  return thread.questions.filter((question) => question.requestId !== requestId);
}

function withTask(tasks: Thread["tasks"], task: Thread["tasks"][number]): Thread["tasks"] {
  const known = tasks.some((old) => old.id === task.id);
  return known ? tasks.map((old) => (old.id === task.id ? task : old)) : [...tasks, task];
}

function person(thread: Thread, event: EventOf<"user_message">, at: number): Thread {
  const next = putMessage(settle(thread), userMessage(event.messageId, event.blocks, at));
  return {
    ...next,
    outgoing: event.clientId
      ? thread.outgoing.filter((sent) => sent.clientId !== event.clientId)
      : withoutFirst(thread, textOf(event)),
    queue: thread.queue.filter((waiting) => waiting.id !== event.queuedId),
  };
}

function textOf(event: EventOf<"user_message">): string {
  return event.blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** The queue's event names no client id, so the oldest unconfirmed text like it is that one. */
function withoutFirst(thread: Thread, content: string): Thread["outgoing"] {
  const at = thread.outgoing.findIndex((sent) => sent.text === content && !sent.failure);
  return thread.outgoing.filter((_, index) => index !== at);
}

function toolStart(thread: Thread, event: EventOf<"tool_start">, at: number): Thread {
  const fresh = toolPart(event.toolCallId, event.toolName, event.args, event.title);
  const known = thread.messages.some((message) =>
    message.parts.some((part) => part.key === fresh.key),
  );
  const change = (tool: ToolPart): ToolPart => ({
    ...tool,
    args: event.args,
    title: event.title,
    startedAt: at,
  });
  const next = known
    ? withTool(thread, event.toolCallId, change)
    : withMessage(thread, event.messageId, at, (parts): Part[] => [...parts, change(fresh)]);
  return { ...next, writing: null };
}

/** The call is written and waits: it shows as a row of the answer that it belongs to. */
function asked(thread: Thread, event: EventOf<"permission_asked">, at: number): Thread {
  const requests = [
    ...thread.requests.filter((request) => request.requestId !== event.requestId),
    event,
  ];
  const fresh = toolPart(event.toolCallId, event.toolName, event.args, event.description);
  const known = thread.messages.some((message) =>
    message.parts.some((part) => part.key === fresh.key),
  );
  const last = thread.messages.at(-1);
  const shown =
    known || last?.role !== "assistant"
      ? thread
      : withMessage(thread, last.id, at, (parts): Part[] => [...parts, fresh]);
  return { ...shown, requests, writing: null };
}

function complete(tool: ToolPart, event: EventOf<"tool_complete">): ToolPart {
  return {
    ...tool,
    tail: "",
    result: {
      content: event.result,
      ok: event.success,
      ms: event.duration_ms ?? null,
      deniedBy: event.deniedBy ?? null,
      total: event.truncated?.total ?? null,
    },
  };
}

function notice(thread: Thread, event: EventOf<"notice">, at: number): Thread {
  const key = `notice:${event.seq ?? at}`;
  const last = thread.messages.at(-1);
  return withMessage(thread, last?.id ?? key, at, (parts): Part[] => [
    ...parts,
    { kind: "notice", key, level: event.level, content: event.content },
  ]);
}

function done(thread: Thread, event: EventOf<"done">): Thread {
  const settled = settle(thread);
  const last = settled.messages.at(-1);
  const id = settled.messages.some((message) => message.id === event.messageId)
    ? event.messageId
    : last?.id;
  const cut = event.reason === "interrupted";
  const messages = settled.messages.map((message) =>
    message.id === id
      ? {
          ...message,
          interrupted: message.interrupted || cut,
          ending: { ms: event.ms, model: event.model, reason: event.reason },
        }
      : message,
  );
  return { ...settled, messages, running: false, writing: null };
}
