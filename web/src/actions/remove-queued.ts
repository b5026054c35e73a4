// Takes a waiting message back.
import { type App, attempt } from "./app";

export async function removeQueued(app: App, sessionId: string, id: string): Promise<void> {
  const done = await attempt(app, () => app.client.call("session.dequeue", { sessionId, id }));
  if (done) app.store.dispatch({ kind: "dequeued", sessionId, id });
}
