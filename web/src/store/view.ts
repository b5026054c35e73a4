// What this window shows, which no host knows: the open session, dialogs, theme, drafts of an
// answer. Kept apart from the state, which is the host's truth.
import { createStore, type StoreApi } from "zustand/vanilla";
import type { PermissionDecision } from "../protocol";
import type { Failure } from "./state";

export type Theme = "system" | "light" | "dark";
export type Dialog = "palette" | "keys" | "sessions" | "modes" | "models" | "bypass";
export type Scope = Extract<PermissionDecision, "allow-session" | "allow-project" | "allow-always">;

/** The answer that is being made to the request in view. */
export interface Answering {
  requestId: string | null;
  /** When this request came into view, or changed; keys rest shortly after. */
  since: number;
  stage: "choose" | "always";
  scope: Scope;
  rule: string;
  reason: string;
  sending: boolean;
  failure: Failure | null;
}

export interface View {
  sessionId: string | null;
  region: "rail" | "thread";
  railHidden: boolean;
  dialog: Dialog | null;
  theme: Theme;
  filter: string;
  renaming: boolean;
  problem: Failure | null;
  answering: Answering;
  /** Rises when the transcript should go to its end. */
  toEnd: number;
  /** Rises with each wish to go to another turn. */
  toTurn: { wish: number; by: 1 | -1 };
}

export type ViewStore = StoreApi<View>;

export const NO_ANSWER: Answering = {
  requestId: null,
  since: 0,
  stage: "choose",
  scope: "allow-session",
  rule: "",
  reason: "",
  sending: false,
  failure: null,
};

export function createViewStore(initial: Partial<View> = {}): ViewStore {
  return createStore<View>(() => ({
    sessionId: null,
    region: "thread",
    railHidden: false,
    dialog: null,
    theme: "system",
    filter: "",
    renaming: false,
    problem: null,
    answering: NO_ANSWER,
    toEnd: 0,
    toTurn: { wish: 0, by: 1 },
    ...initial,
  }));
}
