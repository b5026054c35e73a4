// Answers to the request in view. Answered elsewhere is no error: the request just goes.
import { CODE, RpcError } from "../client";
import type { PermissionAsked, PermissionDecision } from "../protocol";
import { failure } from "../store/sync";
import { type Answering, NO_ANSWER } from "../store/view";
import { texts } from "../ui/texts";
import { type Action, type App, openThread, requestInView } from "./app";
import { focusRegion } from "./focus";

/** Keys rest so long after a request appears or changes, against answers meant for the last one. */
export const REST = 500;

export function rested(app: App): boolean {
  return app.now() - app.view.getState().answering.since >= REST;
}

function change(app: App, part: Partial<Answering>): void {
  app.view.setState((view) => ({ answering: { ...view.answering, ...part } }));
}

/** Puts a request into view, with an empty answer. */
export function showRequest(app: App, request: PermissionAsked | null): void {
  app.view.setState({
    answering: {
      ...NO_ANSWER,
      requestId: request?.requestId ?? null,
      rule: request?.suggestedRule ?? "",
      since: app.now(),
    },
  });
}

export async function answer(app: App, decision: PermissionDecision): Promise<void> {
  const request = requestInView(app);
  const { reason, rule, sending } = app.view.getState().answering;
  if (!request || sending) return;
  const stored = decision !== "allow-once" && decision !== "deny";
  change(app, { sending: true, failure: null });
  try {
    await app.client.call("permission.answer", {
      requestId: request.requestId,
      decision,
      hash: request.hash,
      ...(stored && rule !== request.suggestedRule ? { editedRule: rule } : {}),
      ...(decision === "deny" && reason.trim() !== ""
        ? { reason: reason.trim().slice(0, 2_000) }
        : {}),
    });
    gone(app, request.requestId);
  } catch (error) {
    await refused(app, request, error);
  }
}

async function refused(app: App, request: PermissionAsked, error: unknown): Promise<void> {
  const code = error instanceof RpcError ? error.code : 0;
  if (code === CODE.alreadyResolved) return gone(app, request.requestId);
  if (code === CODE.stale) {
    change(app, {
      sending: false,
      since: app.now(),
      failure: { message: texts.attention.stale, kind: "stale", hint: null },
    });
    const sessionId = app.view.getState().sessionId;
    if (sessionId) await app.sync.reopen(sessionId);
    return;
  }
  change(app, { sending: false, failure: failure(error) });
}

function gone(app: App, requestId: string): void {
  const inside = document.getElementById("attention")?.contains(document.activeElement) ?? false;
  app.store.dispatch({ kind: "requestGone", requestId });
  const next = requestInView(app);
  showRequest(app, next);
  if (inside) requestAnimationFrame(() => focusRegion(next ? "attention" : "composer"));
}

const asks = (app: App) => requestInView(app) !== null && app.view.getState().dialog === null;
const armed = (app: App) => asks(app) && rested(app);

export const allowOnce: Action = {
  id: "allow-once",
  title: texts.actions.once,
  keys: ["1"],
  quiet: true,
  when: armed,
  run: (app) => answer(app, "allow-once"),
};

export const allowAlways: Action = {
  id: "allow-always",
  title: texts.actions.always,
  keys: ["2"],
  quiet: true,
  when: armed,
  run: (app) => change(app, { stage: "always" }),
};

export const deny: Action = {
  id: "deny",
  title: texts.actions.deny,
  keys: ["3"],
  quiet: true,
  when: armed,
  run: (app) => answer(app, "deny"),
};

export const writeReason: Action = {
  id: "write-reason",
  title: texts.actions.reason,
  keys: ["r"],
  quiet: true,
  when: armed,
  run: () => document.getElementById("attention-reason")?.focus(),
};

function turn(app: App, by: 1 | -1): void {
  const requests = openThread(app)?.requests ?? [];
  const shown = requestInView(app);
  const here = shown ? requests.indexOf(shown) : 0;
  const next = requests[(here + by + requests.length) % requests.length];
  if (next) showRequest(app, next);
}

export const nextRequest: Action = {
  id: "next-request",
  title: texts.actions.nextRequest,
  keys: ["j"],
  quiet: true,
  when: asks,
  run: (app) => turn(app, 1),
};

export const previousRequest: Action = {
  id: "previous-request",
  title: texts.actions.previousRequest,
  keys: ["k"],
  quiet: true,
  when: asks,
  run: (app) => turn(app, -1),
};
