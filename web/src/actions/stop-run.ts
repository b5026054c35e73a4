// Stops the running turn. Esc twice does it, so that one stray Esc does not.
import { texts } from "../ui/texts";
import { type Action, type App, attempt, openThread } from "./app";

const TWICE_WITHIN = 600;
const lastEscape = new WeakMap<App, number>();

export const stopRun: Action = {
  id: "stop-run",
  title: texts.actions.stop,
  keysShown: "Esc Esc",
  when: (app) => openThread(app)?.running ?? false,
  async run(app) {
    const sessionId = app.view.getState().sessionId;
    if (sessionId) await attempt(app, () => app.client.call("session.stop", { sessionId }));
  },
};

/** Takes one Esc; true if it was the second in time. */
export function escapeTwice(app: App): boolean {
  const now = app.now();
  const before = lastEscape.get(app);
  lastEscape.set(app, now);
  if (before === undefined || now - before > TWICE_WITHIN) return false;
  lastEscape.delete(app);
  return true;
}
