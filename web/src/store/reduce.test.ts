import { describe, expect, it } from "vitest";
import type { KnownEvent, PermissionAsked, SessionOpenResult } from "../protocol";
import { MiniHost, row, SESSION, script } from "../test/host";
import { type Input, reduce } from "./reduce";
import { emptyState, type State, type Thread } from "./state";

const at = 5;

function apply(state: State, ...inputs: Input[]): State {
  return inputs.reduce(reduce, state);
}

function event(state: State, ...events: KnownEvent[]): State {
  return apply(state, ...events.map((one): Input => ({ kind: "event", event: one, at })));
}

function opened(state: State, result: SessionOpenResult): State {
  return apply(state, { kind: "opened", result, at });
}

function thread(state: State): Thread {
  const found = state.threads[SESSION];
  if (!found) throw new Error("no thread");
  return found;
}

/** What a reader sees of a thread, without what only this window knows. */
function seen(state: State) {
  const { messages, running, seq } = thread(state);
  return {
    running,
    seq,
    messages: messages.map((message) => ({
      id: message.id,
      role: message.role,
      parts: message.parts.map((part) => {
        if (part.kind === "text" || part.kind === "thinking") return `${part.kind}: ${part.text}`;
        if (part.kind === "tool")
          return `${part.name} ${part.id}: ${part.result?.content ?? "open"}`;
        return part.kind;
      }),
    })),
  };
}

function start(): { host: MiniHost; state: State } {
  const host = new MiniHost();
  return { host, state: opened(emptyState(), host.open()) };
}

const asked: PermissionAsked = {
  requestId: "r1",
  toolCallId: "t1",
  toolName: "Bash",
  args: { command: "ls" },
  description: "Run ls",
  cwd: "/home/ada/code",
  mode: "default",
  targets: [],
  spans: [],
  hash: "h",
  askedAt: 1,
};

describe("reduce", () => {
  it("makes a document of a run's events", () => {
    const { host, state } = start();
    script(host);
    const end = event(state, ...host.log.map((entry) => entry.event));
    expect(seen(end)).toEqual({
      running: false,
      seq: host.seq,
      messages: [
        { id: "u1", role: "user", parts: ["text: Do it"] },
        {
          id: "a1",
          role: "assistant",
          parts: ["thinking: Let me see", "text: I will look.", "Bash t1: fine", "Bash t2: broken"],
        },
        { id: "a2", role: "assistant", parts: ["text: It is done."] },
        { id: "u2", role: "user", parts: ["text: More"] },
        { id: "a3", role: "assistant", parts: ["text: Yes."] },
      ],
    });
    expect(thread(end).messages.at(-1)?.ending).toEqual({ ms: 9, model: "demo", reason: "end" });
  });

  it("gives the same for a prefix, a snapshot and the rest, wherever the cut is", () => {
    const { host, state } = start();
    script(host);
    const events = host.log.map((entry) => entry.event);
    const whole = seen(event(state, ...events));
    for (const [cut, entry] of host.log.entries()) {
      const prefix = event(state, ...events.slice(0, cut + 1));
      for (const overlap of [0, 1, 3]) {
        const rest = events.slice(Math.max(0, cut + 1 - overlap));
        expect(seen(event(opened(prefix, entry.after), ...rest)), `cut ${cut}`).toEqual(whole);
      }
      const fresh = opened(emptyState(), entry.after);
      expect(seen(event(fresh, ...events)), `fresh at ${cut}`).toEqual(whole);
    }
  });

  it("holds events that come while a snapshot is fetched, and lets none of them be lost", () => {
    const host = new MiniHost();
    script(host);
    const events = host.log.map((entry) => entry.event);
    const asking = apply(emptyState(), { kind: "opening", sessionId: SESSION });
    const snapshot = host.log[6]?.after;
    if (!snapshot) throw new Error("script too short");
    const end = opened(event(asking, ...events), snapshot);
    expect(seen(end)).toEqual(seen(opened(emptyState(), host.open())));
  });

  it("takes each event once and mends disorder without a snapshot", () => {
    const { host, state } = start();
    script(host);
    const events = host.log.map((entry) => entry.event);
    const whole = seen(event(state, ...events));
    const twice = events.flatMap((one) => [one, one]);
    expect(seen(event(state, ...twice))).toEqual(whole);
    for (let index = 0; index + 1 < events.length; index += 1) {
      const swapped = events
        .with(index, events[index + 1] as KnownEvent)
        .with(index + 1, events[index] as KnownEvent);
      const end = event(state, ...swapped);
      expect(seen(end), `swapped at ${index}`).toEqual(whole);
      expect(thread(end).stale).toBe(false);
    }
  });

  it("asks for a snapshot when an event is missing, and shows nothing out of order", () => {
    const { host, state } = start();
    script(host);
    const events = host.log.map((entry) => entry.event);
    const gap = event(state, ...events.slice(0, 4), ...events.slice(5, 9));
    expect(thread(gap).stale).toBe(true);
    expect(thread(gap).seq).toBe(4);
    const mended = opened(gap, host.log[8]?.after ?? host.open());
    expect(thread(mended).stale).toBe(false);
    expect(seen(event(mended, ...events.slice(9)))).toEqual(seen(event(state, ...events)));
  });

  it("keeps unfinished text of an old epoch apart and never blends it", () => {
    const { host, state } = start();
    host.user("u1", "Do it");
    host.words("a1", 0, "text", ["Half ", "a ", "sentence"]);
    const events = host.log.slice(0, -1).map((entry) => entry.event);
    const before = event(state, ...events);
    const next = new MiniHost();
    next.epoch = "two";
    next.messages = [{ id: "u1", role: "user", blocks: [{ type: "text", text: "Do it" }], at: 1 }];
    const moved = event(before, next.emit({ type: "session.updated" }));
    expect(thread(moved).stale).toBe(true);
    const after = opened(moved, next.open());
    expect(thread(after).cut.map((cut) => cut.text)).toEqual(["Half a sentence"]);
    expect(seen(after).messages).toEqual([{ id: "u1", role: "user", parts: ["text: Do it"] }]);
    const dropped = apply(after, {
      kind: "cutGone",
      sessionId: SESSION,
      key: thread(after).cut[0]?.key ?? "",
    });
    expect(thread(dropped).cut).toEqual([]);
  });

  it("lets the snapshot stand instead of its deltas", () => {
    const { host, state } = start();
    host.user("u1", "Do it");
    const early = event(state, ...host.log.map((entry) => entry.event));
    const delta = host.emit({
      type: "text_delta",
      messageId: "a1",
      block: 0,
      n: 0,
      delta: "draft",
    });
    const text = host.emit({ type: "text", messageId: "a1", content: "final" });
    const late = host.emit({ type: "text_delta", messageId: "a1", block: 0, n: 1, delta: "!" });
    expect(seen(event(early, delta, text, late)).messages[1]?.parts).toEqual(["text: final"]);
  });

  it("drops what a broken response had written", () => {
    const { host, state } = start();
    host.user("u1", "Do it");
    host.emit({ type: "text_delta", messageId: "a1", block: 0, n: 0, delta: "brok" });
    host.emit({ type: "stream_reset", messageId: "a1" });
    host.emit({ type: "text_delta", messageId: "a2", block: 0, n: 0, delta: "whole" });
    const end = event(state, ...host.log.map((entry) => entry.event));
    expect(seen(end).messages.map((message) => message.id)).toEqual(["u1", "a2"]);
  });

  it("takes a delta once by its place and asks again when one is missing", () => {
    const { host, state } = start();
    host.emit({ type: "text_delta", messageId: "a1", block: 0, n: 0, delta: "a" });
    host.emit({ type: "text_delta", messageId: "a1", block: 0, n: 0, delta: "a" });
    const same = event(state, ...host.log.map((entry) => entry.event));
    expect(seen(same).messages[0]?.parts).toEqual(["text: a"]);
    const lost = event(
      same,
      host.emit({ type: "text_delta", messageId: "a1", block: 0, n: 5, delta: "z" }),
    );
    expect(thread(lost).stale).toBe(true);
  });

  it("opens a request once and closes it wherever it was answered", () => {
    const { host, state } = start();
    const ask = event(state, host.emit({ type: "permission_asked", ...asked }));
    expect(thread(ask).requests.map((request) => request.requestId)).toEqual(["r1"]);
    const answer = host.emit({
      type: "permission.answered",
      requestId: "r1",
      answer: { decision: "allow-once" },
    });
    expect(thread(event(ask, answer)).requests).toEqual([]);
    expect(thread(apply(ask, { kind: "requestGone", requestId: "r1" })).requests).toEqual([]);
  });

  it("shows the call that waits as a row of its answer, once", () => {
    const { host, state } = start();
    const words = event(
      state,
      host.emit({ type: "text_delta", messageId: "a1", block: 0, n: 0, delta: "I edit." }),
      host.emit({ type: "tool_input", toolCallId: asked.toolCallId, toolName: "Edit", chars: 90 }),
    );
    const waiting = event(words, host.emit({ type: "permission_asked", ...asked }));
    expect(thread(waiting).writing).toBeNull();
    expect(seen(waiting).messages[0]?.parts).toHaveLength(2);
    const runs = event(
      waiting,
      host.emit({
        type: "tool_start",
        toolCallId: asked.toolCallId,
        toolName: asked.toolName,
        args: {},
        title: "Edit",
        messageId: "a1",
      }),
    );
    expect(seen(runs).messages[0]?.parts).toHaveLength(2);
  });

  it("takes a sent message off when the host shows it, and keeps one that failed", () => {
    const { host, state } = start();
    const message = { clientId: "c1", text: "Hello", images: [], at, failure: null };
    const sent = apply(state, { kind: "sending", sessionId: SESSION, message });
    const failure = { message: "busy", kind: "busy", hint: null };
    const failed = apply(sent, { kind: "sendEnded", sessionId: SESSION, clientId: "c1", failure });
    expect(thread(failed).outgoing[0]?.failure).toEqual(failure);
    const shown = host.emit({
      type: "user_message",
      messageId: "u1",
      clientId: "c1",
      blocks: [{ type: "text", text: "Hello" }],
    });
    expect(thread(event(sent, shown)).outgoing).toEqual([]);
  });

  it("keeps the queue", () => {
    const { host, state } = start();
    const two = event(
      state,
      host.emit({ type: "message_queued", id: "q1", content: "one" }),
      host.emit({ type: "message_queued", id: "q2", content: "two" }),
    );
    expect(thread(two).queue.map((waiting) => waiting.content)).toEqual(["one", "two"]);
    const left = event(two, host.emit({ type: "message_started", id: "q1" }));
    expect(thread(left).queue.map((waiting) => waiting.id)).toEqual(["q2"]);
  });

  it("counts types that it does not know and keeps their place in the order", () => {
    const { host, state } = start();
    host.seq = 1;
    const odd = apply(state, { kind: "unknown", sessionId: SESSION, seq: 1, epoch: "one" });
    expect(odd.unknownEvents).toBe(1);
    const next = event(odd, host.emit({ type: "message_queued", id: "q1", content: "one" }));
    expect(thread(next)).toMatchObject({ stale: false, seq: 2 });
  });

  it("follows rows of other sessions and the end of this one", () => {
    const { state } = start();
    const other = row({
      id: "22222222-2222-4222-8222-222222222222",
      state: "needsYou",
      pending: 2,
    });
    const told = event(state, { type: "session.changed", row: other });
    expect(told.rows[other.id]?.pending).toBe(2);
    const gone = event(told, { type: "session.removed", sessionId: SESSION });
    expect(gone.rows[SESSION]).toBeUndefined();
    expect(thread(gone).status).toBe("missing");
  });
});
