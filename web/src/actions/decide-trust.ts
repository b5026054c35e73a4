// What the open folder brings and whether it may act. The decision names the content that was
// shown; content that changed meanwhile is shown again, never trusted unseen.
import type { TrustDecision } from "../protocol";
import type { Failure } from "../store/state";
import { failure } from "../store/sync";
import type { App } from "./app";

/** Reads what a folder brings. A folder that cannot be read brings nothing that one could trust. */
export async function readTrust(app: App, path: string): Promise<void> {
  try {
    const report = await app.client.call("projects.trustReport", { path });
    if (report) app.store.dispatch({ kind: "trust", path, report });
  } catch {
    // The session says what is wrong with its folder.
  }
}

export async function decideTrust(
  app: App,
  path: string,
  decision: TrustDecision,
): Promise<Failure | null> {
  const hash = app.store.get().trust[path]?.hash;
  if (hash === undefined) return null;
  let failed: Failure | null = null;
  try {
    await app.client.call("projects.trust", { path, hash, decision });
  } catch (error) {
    failed = failure(error);
  }
  await readTrust(app, path);
  return failed;
}
