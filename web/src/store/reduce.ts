// The one function that changes what the page knows: (state, input) -> state, without clock,
// network or React. Unknown event types are counted and ignored.
import type {
  HostInfoResult,
  KnownEvent,
  ProjectRow,
  ProjectsTrustReportResult,
  SessionId,
  SessionOpenResult,
} from "../protocol";
import { applyEvent, never } from "./reduce/event";
import { blend } from "./reduce/snapshot";
import {
  emptyThread,
  type Failure,
  type Line,
  type Outgoing,
  type Row,
  type State,
  type Thread,
} from "./state";

export type Input =
  | { kind: "event"; event: KnownEvent; at: number }
  | { kind: "unknown"; sessionId?: string; seq?: number; epoch?: string }
  | { kind: "line"; line: Line; at: number }
  | { kind: "host"; info: HostInfoResult }
  | { kind: "projects"; rows: ProjectRow[] }
  | { kind: "trust"; path: string; report: ProjectsTrustReportResult }
  | { kind: "rows"; rows: Row[] }
  | { kind: "row"; row: Row }
  | { kind: "startFailed"; failure: Failure }
  | { kind: "opening"; sessionId: SessionId; turns?: number }
  | { kind: "opened"; result: SessionOpenResult; at: number }
  | { kind: "openFailed"; sessionId: SessionId; failure: Failure; missing: boolean }
  | { kind: "place"; sessionId: SessionId; epoch: string; gap: boolean }
  | { kind: "sending"; sessionId: SessionId; message: Outgoing }
  | { kind: "sendEnded"; sessionId: SessionId; clientId: string; failure: Failure | null }
  | { kind: "requestGone"; requestId: string }
  | { kind: "dequeued"; sessionId: SessionId; id: string }
  | { kind: "cutGone"; sessionId: SessionId; key: string };

export function reduce(state: State, input: Input): State {
  switch (input.kind) {
    case "event":
      return happened(state, input.event, input.at);
    case "unknown":
      return unknown({ ...state, unknownEvents: state.unknownEvents + 1 }, input);
    case "line":
      return {
        ...state,
        line: input.line,
        lastGoodAt: input.line === "live" || state.line === "live" ? input.at : state.lastGoodAt,
      };
    case "host":
      return { ...state, host: input.info, startFailure: null };
    case "projects":
      return { ...state, projects: input.rows };
    case "trust":
      return { ...state, trust: { ...state.trust, [input.path]: input.report } };
    case "rows":
      return { ...state, listed: true, startFailure: null, rows: listed(state.rows, input.rows) };
    case "row":
      return putRow(state, input.row);
    case "startFailed":
      return { ...state, startFailure: input.failure };
    case "opening":
      return thread(state, input.sessionId, (old) => ({
        ...old,
        opening: true,
        stale: false,
        failure: null,
        status: old.status === "ready" ? "ready" : "loading",
        turns: input.turns ?? old.turns,
      }));
    case "opened":
      return opened(state, input.result, input.at);
    case "openFailed":
      return thread(state, input.sessionId, (old) => ({
        ...old,
        opening: false,
        status: input.missing ? "missing" : old.status === "ready" ? "ready" : "failed",
        failure: input.failure,
      }));
    case "place":
      return thread(state, input.sessionId, (old) =>
        input.gap || input.epoch !== old.epoch ? { ...old, stale: true } : old,
      );
    case "sending":
      return thread(state, input.sessionId, (old) => ({
        ...old,
        outgoing: [
          ...old.outgoing.filter((sent) => sent.clientId !== input.message.clientId),
          input.message,
        ],
      }));
    case "sendEnded":
      return thread(state, input.sessionId, (old) => ({
        ...old,
        outgoing: ended(old.outgoing, input),
      }));
    case "requestGone":
      return everyThread(state, (old) => withoutRequest(old, input.requestId));
    case "dequeued":
      return thread(state, input.sessionId, (old) => ({
        ...old,
        queue: old.queue.filter((waiting) => waiting.id !== input.id),
      }));
    case "cutGone":
      return thread(state, input.sessionId, (old) => ({
        ...old,
        cut: old.cut.filter((cut) => cut.key !== input.key),
      }));
    default:
      return never(input, state);
  }
}

/** The newest rows, with what was known before of those that only the list names. */
function listed(before: State["rows"], rows: Row[]): State["rows"] {
  return Object.fromEntries(rows.map((row) => [row.id, { ...before[row.id], ...row }]));
}

function putRow(state: State, row: Row): State {
  const next = { ...state, rows: { ...state.rows, [row.id]: { ...state.rows[row.id], ...row } } };
  if (!state.threads[row.id] || row.state === undefined) return next;
  const running = row.state === "running" || row.state === "needsYou";
  return thread(next, row.id, (old) => (old.running === running ? old : { ...old, running }));
}

function ended(
  outgoing: Outgoing[],
  input: { clientId: string; failure: Failure | null },
): Outgoing[] {
  if (!input.failure) return outgoing.filter((sent) => sent.clientId !== input.clientId);
  return outgoing.map((sent) =>
    sent.clientId === input.clientId ? { ...sent, failure: input.failure } : sent,
  );
}

function withoutRequest(old: Thread, requestId: string): Thread {
  const requests = old.requests.filter((request) => request.requestId !== requestId);
  const questions = old.questions.filter((question) => question.requestId !== requestId);
  const same = requests.length === old.requests.length && questions.length === old.questions.length;
  return same ? old : { ...old, requests, questions };
}

function thread(state: State, id: SessionId, change: (old: Thread) => Thread): State {
  const old = state.threads[id] ?? emptyThread(id);
  const next = change(old);
  return next === state.threads[id]
    ? state
    : { ...state, threads: { ...state.threads, [id]: next } };
}

function everyThread(state: State, change: (old: Thread) => Thread): State {
  return Object.keys(state.threads).reduce((next, id) => thread(next, id, change), state);
}

/** Host events first; those of a session only matter for one that was opened here. */
function happened(state: State, event: KnownEvent, at: number): State {
  if (event.type === "session.changed") return putRow(state, event.row);
  if (event.type === "session.removed") return removed(state, event.sessionId ?? null);
  const id = event.sessionId;
  if (!id || !state.threads[id]) return state;
  const next = thread(state, id, (old) => receive(old, event, at));
  return event.type === "options_changed" ? options(next, id, event) : next;
}

function removed(state: State, id: SessionId | null): State {
  if (!id || !state.rows[id]) return state;
  const { [id]: _, ...rows } = state.rows;
  const next = { ...state, rows };
  return state.threads[id] ? thread(next, id, (old) => ({ ...old, status: "missing" })) : next;
}

function options(
  state: State,
  id: SessionId,
  event: Extract<KnownEvent, { type: "options_changed" }>,
): State {
  const row = state.rows[id];
  if (!row) return state;
  return putRow(state, {
    ...row,
    permissionMode: event.permissionMode,
    provider: event.provider ?? row.provider,
    model: event.model ?? row.model ?? null,
  });
}

/** An event of a type that is newer than this page still takes its place in the order. */
function unknown(state: State, input: { sessionId?: string; seq?: number; epoch?: string }): State {
  const { sessionId, seq, epoch } = input;
  if (!sessionId || seq === undefined || !state.threads[sessionId]) return state;
  const place: KnownEvent = { type: "session.updated", sessionId, seq, epoch: epoch ?? null };
  return thread(state, sessionId, (old) => receive(old, place, 0));
}

/** Takes an event once, in order; holds it if something before it is missing. */
function receive(old: Thread, event: KnownEvent, at: number): Thread {
  const { seq, epoch } = event;
  if (seq === undefined || seq === null) return applyEvent(old, event, at);
  if (old.status !== "ready") return old.opening ? { ...old, held: [...old.held, event] } : old;
  if (epoch && old.epoch && epoch !== old.epoch) {
    return { ...old, stale: !old.opening, held: [...old.held, event] };
  }
  if (seq <= old.seq) return old;
  if (seq > old.seq + 1) return { ...old, stale: !old.opening, held: [...old.held, event] };
  const next = { ...applyEvent(old, event, at), seq };
  const kept = old.opening ? { ...next, held: [...next.held, event] } : next;
  return drain(kept, at);
}

/** Applies what was held and follows now; a thread without anything missing is whole again. */
function drain(old: Thread, at: number): Thread {
  if (old.opening || old.held.length === 0) return old;
  let now = old;
  for (;;) {
    const due = now.held.find((event) => event.seq === now.seq + 1 && sameEpoch(event, now));
    if (!due) break;
    now = { ...applyEvent(now, due, at), seq: now.seq + 1 };
  }
  const held = now.held.filter((event) => !sameEpoch(event, now) || (event.seq ?? 0) > now.seq);
  return { ...now, held, stale: now.stale && held.length > 0 };
}

function sameEpoch(event: KnownEvent, thread: Thread): boolean {
  return !event.epoch || event.epoch === thread.epoch;
}

function opened(state: State, result: SessionOpenResult, at: number): State {
  const next = { ...state, rows: { ...state.rows, [result.row.id]: result.row } };
  return thread(next, result.row.id, (old) => {
    const fresh = blend(old, result);
    const held = fresh.held
      .filter(
        (event) =>
          event.epoch === undefined || event.epoch === null || event.epoch === result.epoch,
      )
      .sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
    const start: Thread = { ...fresh, held: [] };
    return held.reduce((now, event) => receive(now, event, at), start);
  });
}
