// Starts the scripted demo: no model, nothing leaves the machine.
import { texts } from "../ui/texts";
import type { Action } from "./app";
import { startSession } from "./new-session";

export const startDemo: Action = {
  id: "start-demo",
  title: texts.start.demo,
  run: (app) =>
    startSession(app, app.store.get().host?.cwd ?? null, { provider: "scripted", model: "demo" }),
};
