// The container of the state: a store that React can watch, changed by `reduce` alone.
import { createStore } from "zustand/vanilla";
import { type Input, reduce } from "./reduce";
import { emptyState, type State } from "./state";

export interface Store {
  get(): State;
  subscribe(listener: () => void): () => void;
  dispatch(...inputs: Input[]): void;
}

export function createStateStore(initial: State = emptyState()): Store {
  const store = createStore<State>(() => initial);
  return {
    get: store.getState,
    subscribe: (listener) => store.subscribe(listener),
    dispatch: (...inputs) => store.setState(inputs.reduce(reduce, store.getState()), true),
  };
}
