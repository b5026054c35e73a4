// The one place that believes the wire: from unknown JSON to typed events and answers. Types that
// this page does not know become `null`, so that the store can count and ignore them.
import type { EventType, KnownEvent } from "../protocol";

/** Every type of the union, held complete by the compiler. */
const KNOWN: Record<EventType, true> = {
  "session.created": true,
  user_message: true,
  text_delta: true,
  thinking_delta: true,
  text: true,
  thinking: true,
  tool_input: true,
  tool_start: true,
  tool_progress: true,
  tool_output: true,
  tool_complete: true,
  "session.diff": true,
  "hook.triggered": true,
  "hook.blocked": true,
  permission_asked: true,
  "permission.answered": true,
  "permission.rejected": true,
  question_asked: true,
  "question.answered": true,
  "question.rejected": true,
  todos_updated: true,
  task_updated: true,
  notice: true,
  stream_reset: true,
  usage_totals: true,
  message_queued: true,
  message_dequeued: true,
  message_started: true,
  options_changed: true,
  "session.error": true,
  "session.updated": true,
  done: true,
  "session.changed": true,
  "session.removed": true,
  stream_gap: true,
};

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What stands in an event frame; `event` is absent for a type that this page does not know. */
export interface Decoded {
  event?: KnownEvent;
  sessionId?: string;
  seq?: number;
  epoch?: string;
}

export function decodeEvent(text: string): Decoded {
  const value = parse(text);
  if (!isObject(value) || typeof value.type !== "string") return {};
  if (Object.hasOwn(KNOWN, value.type)) return { event: value as unknown as KnownEvent };
  const decoded: Decoded = {};
  if (typeof value.sessionId === "string") decoded.sessionId = value.sessionId;
  if (typeof value.seq === "number") decoded.seq = value.seq;
  if (typeof value.epoch === "string") decoded.epoch = value.epoch;
  return decoded;
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A result, in the type that the method map promises for it. */
export function decodeResult<T>(value: unknown): T {
  return value as T;
}
