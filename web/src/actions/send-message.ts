// Sends what was written; while a run goes on the host lets it wait. The answer comes only at the
// end of the run, so nothing waits for it: once the host has shown that it took the message, the
// call is let go (a run does not end with its connection), because a browser has six of them.
import { randomId } from "../client";
import type { PromptImage } from "../protocol";
import { failure } from "../store/sync";
import type { App } from "./app";

export async function sendMessage(
  app: App,
  sessionId: string,
  text: string,
  images: PromptImage[],
  clientId = randomId(),
): Promise<void> {
  const message = { clientId, text, images, at: app.now(), failure: null };
  app.store.dispatch({ kind: "sending", sessionId, message });
  app.view.setState((view) => ({ toEnd: view.toEnd + 1 }));
  const taken = new AbortController();
  const forget = app.store.subscribe(() => {
    const waits = app.store.get().threads[sessionId]?.outgoing ?? [];
    if (!waits.some((sent) => sent.clientId === clientId)) taken.abort();
  });
  try {
    await app.client.call(
      "session.send",
      { sessionId, message: text, clientId, ...(images.length > 0 ? { images } : {}) },
      taken.signal,
    );
    app.store.dispatch({ kind: "sendEnded", sessionId, clientId, failure: null });
  } catch (error) {
    if (!taken.signal.aborted)
      app.store.dispatch({ kind: "sendEnded", sessionId, clientId, failure: failure(error) });
  } finally {
    forget();
  }
}
