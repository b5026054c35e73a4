// Keeps the state level with the host: start-up reads, one subscription for the open session, and
// a new snapshot whenever the reducer says that events are missing.
import { type Client, CODE, type Decoded, RpcError } from "../client";
import type { Store } from "./index";
import type { Input } from "./reduce";
import { type Failure, TURNS } from "./state";

export interface Sync {
  stop(): void;
  hurry(): void;
  /** Makes a session the watched one and shows it. */
  watch(sessionId: string | null): Promise<void>;
  older(sessionId: string): Promise<void>;
  reopen(sessionId: string): Promise<void>;
  refresh(): Promise<void>;
}

export interface Clock {
  now(): number;
  /** Runs once soon, at most once a frame. */
  soon(run: () => void): void;
}

export function failure(error: unknown): Failure {
  if (error instanceof RpcError)
    return { message: error.message, kind: error.kind, hint: error.hint };
  return {
    message: error instanceof Error ? error.message : String(error),
    kind: null,
    hint: null,
  };
}

export function createSync(client: Client, store: Store, clock: Clock): Sync {
  let watched: string | null = null;
  let live = false;
  let waiting: Input[] = [];

  const flush = () => {
    const inputs = waiting;
    waiting = [];
    if (inputs.length === 0) return;
    store.dispatch(...inputs);
    mend();
  };

  const take = (events: Decoded[]) => {
    if (waiting.length === 0) clock.soon(flush);
    const at = clock.now();
    for (const { event, ...place } of events)
      waiting.push(event ? { kind: "event", event, at } : { kind: "unknown", ...place });
  };

  const mend = () => {
    const thread = watched ? store.get().threads[watched] : undefined;
    if (live && thread?.stale && !thread.opening) void open(thread.sessionId, thread.turns);
  };

  async function open(sessionId: string, turns: number): Promise<void> {
    store.dispatch({ kind: "opening", sessionId, turns });
    try {
      const result = await client.call("session.open", { sessionId, turns });
      flush();
      store.dispatch({ kind: "opened", result, at: clock.now() });
      mend();
    } catch (error) {
      const missing = error instanceof RpcError && isMissing(error);
      store.dispatch({ kind: "openFailed", sessionId, failure: failure(error), missing });
    }
  }

  async function subscribe(sessionId: string): Promise<void> {
    const thread = store.get().threads[sessionId];
    const known = thread?.status === "ready" ? thread : null;
    try {
      const place = await client.call("events.subscribe", {
        sessionId,
        after: known?.seq ?? null,
        epoch: known?.epoch ?? null,
      });
      store.dispatch({ kind: "place", sessionId, epoch: place.epoch, gap: place.gap });
      if (known) mend();
    } catch (error) {
      const missing = error instanceof RpcError && isMissing(error);
      store.dispatch({ kind: "openFailed", sessionId, failure: failure(error), missing });
    }
  }

  async function refresh(): Promise<void> {
    try {
      const [info, projects, rows] = await Promise.all([
        client.call("host.info", {}),
        client.call("projects.list", {}),
        client.call("session.list", {}),
      ]);
      store.dispatch(
        { kind: "host", info },
        { kind: "projects", rows: projects },
        { kind: "rows", rows },
      );
    } catch (error) {
      if (error instanceof RpcError && error.code === CODE.unauthorized) lock();
      else store.dispatch({ kind: "startFailed", failure: failure(error) });
    }
  }

  function lock(): void {
    stream.stop();
    store.dispatch({ kind: "line", line: "locked", at: clock.now() });
  }

  async function show(sessionId: string): Promise<void> {
    const before = store.get().threads[sessionId];
    if (before?.status !== "ready") store.dispatch({ kind: "opening", sessionId, turns: TURNS });
    await subscribe(sessionId);
    const thread = store.get().threads[sessionId];
    if (thread && thread.status !== "ready" && thread.status !== "missing")
      await open(sessionId, thread.turns);
  }

  const stream = client.listen({
    open() {
      live = true;
      store.dispatch({ kind: "line", line: "live", at: clock.now() });
      void refresh();
      if (watched) void show(watched);
    },
    events: take,
    lost() {
      live = false;
      if (store.get().line !== "locked")
        store.dispatch({ kind: "line", line: "reconnecting", at: clock.now() });
    },
    unauthorized: lock,
  });

  return {
    stop: () => stream.stop(),
    hurry: () => stream.hurry(),
    async watch(sessionId) {
      const before = watched;
      watched = sessionId;
      if (before && before !== sessionId)
        void client.call("events.unsubscribe", { sessionId: before }).catch(() => undefined);
      if (sessionId && live) await show(sessionId);
      else if (sessionId && store.get().threads[sessionId]?.status !== "ready")
        store.dispatch({ kind: "opening", sessionId });
    },
    older: (sessionId) => open(sessionId, (store.get().threads[sessionId]?.turns ?? TURNS) + TURNS),
    reopen: show,
    refresh,
  };
}

function isMissing(error: RpcError): boolean {
  return error.code === CODE.notFound || error.kind === "not_found";
}
