// The event stream of one window: `GET /events` read with fetch, because an EventSource cannot
// send the page key. It connects again by itself and says so; what was missed meanwhile is asked
// for by whoever listens to `open`.
import { type Decoded, decodeEvent } from "./decode";
import type { Door } from "./rpc";
import { SseDecoder } from "./sse";

/** Waits before the next try; the last one repeats. */
export const BACK_OFF = [250, 1_000, 3_000, 5_000, 10_000] as const;
/** The server says something every 15 s; silence of three times that is a dead line. */
export const SILENCE = 45_000;

export interface Listener {
  open(): void;
  events(events: Decoded[]): void;
  lost(): void;
  unauthorized(): void;
}

export class EventStream {
  #door: Door;
  #listener: Listener;
  #stopped = false;
  #failures = 0;
  #abort: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(door: Door, listener: Listener) {
    this.#door = door;
    this.#listener = listener;
  }

  start(): void {
    void this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#abort?.abort();
  }

  /** Tries at once instead of waiting out the back-off, as when the network came back. */
  hurry(): void {
    if (this.#abort || this.#stopped) return;
    clearTimeout(this.#timer);
    void this.#connect();
  }

  async #connect(): Promise<void> {
    if (this.#stopped) return;
    const abort = new AbortController();
    this.#abort = abort;
    try {
      this.#watch(abort);
      const response = await this.#door.fetch(
        `/events?client=${encodeURIComponent(this.#door.clientId)}`,
        {
          headers: { Authorization: `Bearer ${this.#door.key}`, Accept: "text/event-stream" },
          credentials: "same-origin",
          cache: "no-store",
          signal: abort.signal,
        },
      );
      if (response.status === 401) {
        this.stop();
        this.#listener.unauthorized();
        return;
      }
      if (response.ok && response.body) await this.#read(response.body, abort);
    } catch {
      // A line that breaks is like one that ends: the next try below tells which.
    }
    abort.abort();
    this.#again();
  }

  async #read(body: ReadableStream<Uint8Array>, abort: AbortController): Promise<void> {
    const decoder = new SseDecoder();
    const reader = body.getReader();
    const cancel = () => void reader.cancel().catch(() => undefined);
    abort.signal.addEventListener("abort", cancel, { once: true });
    this.#failures = 0;
    this.#listener.open();
    for (;;) {
      this.#watch(abort);
      const { done, value } = await reader.read();
      if (done || abort.signal.aborted) return;
      const events = decoder.push(value).map((frame) => decodeEvent(frame.data));
      if (events.length > 0) this.#listener.events(events);
    }
  }

  #watch(abort: AbortController): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => abort.abort(), SILENCE);
  }

  #again(): void {
    clearTimeout(this.#timer);
    this.#abort = null;
    if (this.#stopped) return;
    this.#listener.lost();
    const wait = BACK_OFF[Math.min(this.#failures, BACK_OFF.length - 1)];
    this.#failures += 1;
    this.#timer = setTimeout(() => void this.#connect(), wait);
  }
}
