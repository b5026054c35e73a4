// Sets the mode of the open session. Bypass wants a second, separate yes.
import type { Mode } from "../protocol";
import { texts } from "../ui/texts";
import { type Action, type App, attempt, openRow } from "./app";

export const MODES: readonly Mode[] = [
  "default",
  "acceptEdits",
  "plan",
  "review",
  "explore",
  "dontAsk",
  "auto",
  "bypassPermissions",
];

export const chooseMode: Action = {
  id: "choose-mode",
  title: texts.actions.mode,
  keys: ["m"],
  when: (app) => openRow(app) !== null,
  run: (app) => app.view.setState({ dialog: "modes" }),
};

export async function setMode(app: App, mode: Mode, confirmed = false): Promise<void> {
  if (mode === "bypassPermissions" && !confirmed) {
    app.view.setState({ dialog: "bypass" });
    return;
  }
  const sessionId = app.view.getState().sessionId;
  app.view.setState({ dialog: null });
  if (!sessionId) return;
  const row = await attempt(app, () =>
    app.client.call("session.set", {
      sessionId,
      agentMode: mode,
      ...(confirmed ? { confirm: true } : {}),
    }),
  );
  if (row) app.store.dispatch({ kind: "row", row });
}
