// Gives components the state, the view and the actions. A selector must give the same object for
// the same state, or its component is drawn on every event.
import { createContext, useContext, useSyncExternalStore } from "react";
import type { App } from "../actions/app";
import type { Row, State, Thread } from "../store/state";
import type { View } from "../store/view";

const Context = createContext<App | null>(null);
export const AppProvider = Context.Provider;

export function useApp(): App {
  const app = useContext(Context);
  if (!app) throw new Error("a component stands outside of `AppProvider`");
  return app;
}

export function useStored<T>(select: (state: State) => T): T {
  const { store } = useApp();
  return useSyncExternalStore(store.subscribe, () => select(store.get()));
}

export function useView<T>(select: (view: View) => T): T {
  const { view } = useApp();
  return useSyncExternalStore(view.subscribe, () => select(view.getState()));
}

/** A part of the open thread. Only `Thread` wants the whole, which is new with every delta. */
export function useOpenThread<T>(select: (thread: Thread | null) => T): T {
  const id = useView((view) => view.sessionId);
  return useStored((state) => select(id ? (state.threads[id] ?? null) : null));
}

export function useOpenRow(): Row | null {
  const id = useView((view) => view.sessionId);
  return useStored((state) => (id ? (state.rows[id] ?? null) : null));
}
