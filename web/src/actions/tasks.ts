// What can be done with a background task: look at its output, and stop it.
import type { App } from "./app";

export async function taskOutput(app: App, sessionId: string, taskId: string): Promise<string> {
  const page = await app.client.call("tasks.output", { sessionId, taskId });
  return page.text;
}

export async function stopTask(app: App, sessionId: string, taskId: string): Promise<void> {
  await app.client.call("tasks.stop", { sessionId, taskId });
}
