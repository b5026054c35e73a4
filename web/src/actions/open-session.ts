// Shows a session, or the start page.
import type { App } from "./app";

export function openSession(app: App, sessionId: string | null): void {
  app.view.setState({
    sessionId,
    region: sessionId ? "thread" : "rail",
    dialog: null,
    problem: null,
    renaming: false,
  });
  app.navigate(sessionId);
  void app.sync.watch(sessionId);
}
