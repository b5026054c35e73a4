// Puts components on a stand: real store, reducer and actions over a wire that the test answers.
import { render } from "@testing-library/react";
import type { ReactNode } from "react";
import type { App } from "../actions/app";
import type { Client } from "../client";
import { AppProvider } from "../features/context";
import type { SessionOpenResult } from "../protocol";
import { createStateStore } from "../store";
import { createViewStore } from "../store/view";
import { MiniHost, SESSION } from "./host";

export interface Asked {
  method: string;
  params: Record<string, unknown>;
}

export function stand(result: Partial<SessionOpenResult> = {}) {
  const asked: Asked[] = [];
  const answers = new Map<string, () => Promise<unknown>>();
  const signals = new Map<string, AbortSignal>();
  let time = 1_000_000;
  const client: Client = {
    call: async (method, params, signal) => {
      if (signal) signals.set(method, signal);
      asked.push({ method, params: params as Record<string, unknown> });
      return ((await answers.get(method)?.()) ?? null) as never;
    },
    listen: () => ({ stop() {}, hurry() {} }),
  };
  const store = createStateStore();
  store.dispatch(
    { kind: "line", line: "live", at: time },
    { kind: "opened", result: { ...new MiniHost().open(), ...result }, at: time },
  );
  const reopened: string[] = [];
  const app: App = {
    client,
    store,
    view: createViewStore({ sessionId: SESSION }),
    sync: {
      stop() {},
      hurry() {},
      watch: async () => {},
      older: async () => {},
      reopen: async (id) => void reopened.push(id),
      refresh: async () => {},
    },
    storage: localStorage,
    now: () => time,
    navigate() {},
  };
  return {
    app,
    asked,
    signals,
    reopened,
    answer: (method: string, run: () => Promise<unknown>) => void answers.set(method, run),
    pass: (ms: number) => {
      time += ms;
    },
    show: (children: ReactNode) => render(<AppProvider value={app}>{children}</AppProvider>),
  };
}
