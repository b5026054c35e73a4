// Starts a session in the folder of the open one, or in the host's own, and shows it.
import { randomId } from "../client";
import { texts } from "../ui/texts";
import { type Action, type App, attempt, openRow } from "./app";
import { openSession } from "./open-session";

export async function startSession(
  app: App,
  projectPath: string | null,
  model: { provider: string; model: string } | null = null,
): Promise<void> {
  const started = await attempt(app, () =>
    app.client.call("session.start", {
      clientId: randomId(),
      ...(projectPath ? { projectPath } : {}),
      ...(model ?? {}),
    }),
  );
  if (!started) return;
  openSession(app, started.sessionId);
  void app.sync.refresh();
}

export const newSession: Action = {
  id: "new-session",
  title: texts.actions.newSession,
  keys: ["n"],
  run: (app) => startSession(app, openRow(app)?.projectPath ?? app.store.get().host?.cwd ?? null),
};
