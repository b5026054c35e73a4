// Gives the open session a title; the field for it stands in the header.
import { texts } from "../ui/texts";
import { type Action, type App, attempt, openRow } from "./app";

export const renameSession: Action = {
  id: "rename-session",
  title: texts.actions.rename,
  when: (app) => openRow(app) !== null,
  run: (app) => app.view.setState({ renaming: true, dialog: null }),
};

export async function saveTitle(app: App, sessionId: string, title: string): Promise<void> {
  app.view.setState({ renaming: false });
  const row = app.store.get().rows[sessionId];
  const trimmed = title.trim().slice(0, 200);
  if (!row || trimmed === "" || trimmed === row.title) return;
  app.store.dispatch({ kind: "row", row: { ...row, title: trimmed } });
  const done = await attempt(app, () =>
    app.client.call("session.rename", { sessionId, title: trimmed }).then(() => true),
  );
  if (!done) app.store.dispatch({ kind: "row", row });
}
