import { describe, expect, it } from "vitest";
import { type Client, type Decoded, type Listener, RpcError } from "../client";
import { MiniHost, SESSION, script } from "../test/host";
import { createStateStore } from "./index";
import { createSync } from "./sync";

/** A wire that answers from a host in miniature and remembers what was asked. */
function wire(host: MiniHost) {
  const asked: string[] = [];
  const state: { listener: Listener | null; place: { gap: boolean } | null; missing: boolean } = {
    listener: null,
    place: null,
    missing: false,
  };
  const answers: Record<string, () => unknown> = {
    "host.info": () => ({
      version: "1",
      protocol: "1",
      epoch: host.epoch,
      home: "/h",
      cwd: "/h",
      platform: "linux",
      scripted: true,
    }),
    "projects.list": () => [],
    "session.list": () => [],
    "session.open": () => host.open(),
    "events.subscribe": () => ({
      seq: host.seq,
      epoch: host.epoch,
      gap: state.place?.gap ?? false,
    }),
  };
  const client: Client = {
    call: async (method) => {
      asked.push(method);
      if (state.missing && method !== "host.info") throw new RpcError(-32004, "gone", "not_found");
      return structuredClone(answers[method]?.() ?? null) as never;
    },
    listen: (listener) => {
      state.listener = listener;
      return { stop() {}, hurry() {} };
    },
  };
  return { client, asked, state };
}

async function begin() {
  const host = new MiniHost();
  const line = wire(host);
  const store = createStateStore();
  const sync = createSync(line.client, store, { now: () => 1, soon: (run) => queueMicrotask(run) });
  line.state.listener?.open();
  await sync.watch(SESSION);
  await settled();
  const say = async (...events: Decoded[]) => {
    line.state.listener?.events(events);
    await settled();
  };
  return { host, ...line, store, sync, say };
}

const settled = () => new Promise((done) => setTimeout(done, 0));
const opens = (asked: string[]) => asked.filter((method) => method === "session.open").length;

describe("sync", () => {
  it("subscribes before it opens, so that no event falls between", async () => {
    const { asked, store } = await begin();
    expect(asked.indexOf("events.subscribe")).toBeLessThan(asked.indexOf("session.open"));
    expect(store.get().threads[SESSION]?.status).toBe("ready");
  });

  it("opens again by itself when events are missing", async () => {
    const { host, asked, store, say } = await begin();
    script(host);
    const before = opens(asked);
    await say(...host.log.slice(5, 9).map((entry) => ({ event: entry.event })));
    expect(opens(asked)).toBe(before + 1);
    expect(store.get().threads[SESSION]).toMatchObject({ seq: host.seq, stale: false });
  });

  it("goes on where it was after a short break", async () => {
    const { asked, state, store } = await begin();
    const before = opens(asked);
    state.listener?.lost();
    expect(store.get().line).toBe("reconnecting");
    state.listener?.open();
    await settled();
    expect(opens(asked)).toBe(before);
    expect(store.get().line).toBe("live");
  });

  it("opens again after a break that lost events, or when the host is another one", async () => {
    const { host, asked, state, store } = await begin();
    const before = opens(asked);
    state.place = { gap: true };
    state.listener?.lost();
    state.listener?.open();
    await settled();
    expect(opens(asked)).toBe(before + 1);
    state.place = null;
    host.epoch = "two";
    state.listener?.lost();
    state.listener?.open();
    await settled();
    expect(opens(asked)).toBe(before + 2);
    expect(store.get().threads[SESSION]?.epoch).toBe("two");
  });

  it("leaves a session that it knows as it is while the line is down", async () => {
    const { host, state, store, sync, say } = await begin();
    state.listener?.lost();
    await sync.watch(null);
    await sync.watch(SESSION);
    expect(store.get().threads[SESSION]).toMatchObject({ status: "ready", opening: false });
    state.listener?.open();
    await settled();
    host.user("u1", "Hello");
    await say(...host.log.map((entry) => ({ event: entry.event })));
    expect(store.get().threads[SESSION]).toMatchObject({ seq: host.seq, held: [], opening: false });
  });

  it("says when a session is not there, and when the key is refused", async () => {
    const { state, store, sync } = await begin();
    state.missing = true;
    await sync.watch("99999999-1111-4111-8111-111111111111");
    expect(store.get().threads["99999999-1111-4111-8111-111111111111"]?.status).toBe("missing");
    state.listener?.unauthorized();
    expect(store.get().line).toBe("locked");
  });
});
