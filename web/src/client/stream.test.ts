import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Decoded } from "./decode";
import type { Fetch } from "./rpc";
import { BACK_OFF, EventStream, SILENCE } from "./stream";

interface Line {
  say(text: string): void;
  end(): void;
  headers: Record<string, string>;
  url: string;
}

/** A server whose answers the test hands out one by one. */
function server(status: (attempt: number) => number = () => 200) {
  const lines: Line[] = [];
  let attempts = 0;
  const fetch: Fetch = async (url, init) => {
    attempts += 1;
    const code = status(attempts);
    if (code === 0) throw new TypeError("no line");
    if (code !== 200) return new Response(null, { status: code });
    let control!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        control = controller;
      },
    });
    lines.push({
      say: (text) => control.enqueue(new TextEncoder().encode(text)),
      end: () => control.close(),
      headers: init.headers as Record<string, string>,
      url,
    });
    return new Response(body, { status: 200 });
  };
  return { fetch, lines, attempts: () => attempts };
}

function listener() {
  const said: string[] = [];
  const events: Decoded[] = [];
  return {
    said,
    events,
    open: () => void said.push("open"),
    lost: () => void said.push("lost"),
    unauthorized: () => void said.push("unauthorized"),
    take: (more: Decoded[]) => void events.push(...more),
  };
}

function start(host: ReturnType<typeof server>) {
  const heard = listener();
  const stream = new EventStream(
    { fetch: host.fetch, clientId: "window", key: "key" },
    { open: heard.open, lost: heard.lost, unauthorized: heard.unauthorized, events: heard.take },
  );
  stream.start();
  return { heard, stream };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

describe("EventStream", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("names its window, sends the key and gives events", async () => {
    const host = server();
    const { heard, stream } = start(host);
    await settle();
    host.lines[0]?.say(
      'data: {"type":"session.removed","sessionId":"s"}\n\ndata: {"type":"later"}\n\n',
    );
    await settle();
    expect(host.lines[0]?.url).toBe("/events?client=window");
    expect(host.lines[0]?.headers.Authorization).toBe("Bearer key");
    expect(heard.events).toEqual([{ event: { type: "session.removed", sessionId: "s" } }, {}]);
    stream.stop();
  });

  it("connects again after a line that ended, at once the first time", async () => {
    const host = server();
    const { heard, stream } = start(host);
    await settle();
    host.lines[0]?.end();
    await settle();
    expect(heard.said).toEqual(["open", "lost"]);
    await vi.advanceTimersByTimeAsync(BACK_OFF[0]);
    expect(heard.said).toEqual(["open", "lost", "open"]);
    stream.stop();
  });

  it("waits longer after each failure and no longer than the last wait", async () => {
    const host = server(() => 0);
    const { stream } = start(host);
    await settle();
    for (const [index, wait] of [...BACK_OFF, 10_000, 10_000].entries()) {
      expect(host.attempts()).toBe(index + 1);
      await vi.advanceTimersByTimeAsync(wait - 1);
      expect(host.attempts()).toBe(index + 1);
      await vi.advanceTimersByTimeAsync(1);
    }
    stream.stop();
  });

  it("takes silence for a dead line, and heartbeats for life", async () => {
    const host = server();
    const { heard, stream } = start(host);
    await settle();
    await vi.advanceTimersByTimeAsync(SILENCE - 1_000);
    host.lines[0]?.say(": beat\n\n");
    await vi.advanceTimersByTimeAsync(SILENCE - 1_000);
    expect(heard.said).toEqual(["open"]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(heard.said).toEqual(["open", "lost", "open"]);
    stream.stop();
  });

  it("says so and stops when the key is refused", async () => {
    const host = server(() => 401);
    const { heard } = start(host);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(heard.said).toEqual(["unauthorized"]);
    expect(host.attempts()).toBe(1);
  });

  it("hurries when told to, and stays stopped when stopped", async () => {
    const host = server((attempt) => (attempt < 5 ? 0 : 200));
    const { heard, stream } = start(host);
    await vi.advanceTimersByTimeAsync(4_500);
    expect(host.attempts()).toBe(4);
    stream.hurry();
    await settle();
    expect(heard.said.at(-1)).toBe("open");
    stream.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(host.attempts()).toBe(5);
  });
});
