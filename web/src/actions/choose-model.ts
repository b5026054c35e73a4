// Sets provider and model of the open session, always as a pair.
import { texts } from "../ui/texts";
import { type Action, type App, attempt, openRow } from "./app";

export const chooseModel: Action = {
  id: "choose-model",
  title: texts.actions.model,
  when: (app) => openRow(app) !== null,
  run: (app) => app.view.setState({ dialog: "models" }),
};

export async function setModel(app: App, provider: string, model: string): Promise<void> {
  const sessionId = app.view.getState().sessionId;
  app.view.setState({ dialog: null });
  if (!sessionId) return;
  const row = await attempt(app, () =>
    app.client.call("session.set", { sessionId, provider, model }),
  );
  if (row) app.store.dispatch({ kind: "row", row });
}
