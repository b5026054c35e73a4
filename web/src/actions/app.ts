// What an action may use: the host's state, this window's view, the wire. No React.
import type { Client } from "../client";
import type { Store } from "../store";
import { failure, type Sync } from "../store/sync";
import type { View, ViewStore } from "../store/view";

export interface App {
  client: Client;
  store: Store;
  view: ViewStore;
  sync: Sync;
  storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  now(): number;
  /** Puts the address of a session, or of the start page, into the history. */
  navigate(sessionId: string | null): void;
}

export interface Action {
  id: string;
  title: string;
  /** Keys such as `mod+k`; a bare letter acts outside text fields only. */
  keys?: string[];
  /** Shown in the key list as it is, for what is not one key, such as `Esc Esc`. */
  keysShown?: string;
  /** Only for keys and buttons, not in the palette. */
  quiet?: boolean;
  when?(app: App): boolean;
  /** `key` is the key that was pressed, for actions with a row of them. */
  run(app: App, key?: string): void | Promise<void>;
}

export function patch(app: App, change: Partial<View>): void {
  app.view.setState(change);
}

/** Runs a call whose failure is said in the line under the header. */
export async function attempt<T>(app: App, call: () => Promise<T>): Promise<T | null> {
  try {
    const result = await call();
    patch(app, { problem: null });
    return result;
  } catch (error) {
    patch(app, { problem: failure(error) });
    return null;
  }
}

export function openThread(app: App) {
  const id = app.view.getState().sessionId;
  return id ? (app.store.get().threads[id] ?? null) : null;
}

export function openRow(app: App) {
  const id = app.view.getState().sessionId;
  return id ? (app.store.get().rows[id] ?? null) : null;
}

/** The request that the bar shows. */
export function requestInView(app: App) {
  const requests = openThread(app)?.requests ?? [];
  const wanted = app.view.getState().answering.requestId;
  return requests.find((request) => request.requestId === wanted) ?? requests[0] ?? null;
}

/** The questions or the plan that the card shows. */
export function questionInView(app: App) {
  return openThread(app)?.questions[0] ?? null;
}
