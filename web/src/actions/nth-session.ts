// Goes to one of the first nine sessions, in the order of the rail.
import { rail } from "../store/select";
import { texts } from "../ui/texts";
import type { Action } from "./app";
import { openSession } from "./open-session";

export const nthSession: Action = {
  id: "nth-session",
  title: texts.actions.nthSession,
  keys: ["1", "2", "3", "4", "5", "6", "7", "8", "9"].map((digit) => `alt+${digit}`),
  keysShown: "Alt+1 \u2026 9",
  quiet: true,
  run(app, key) {
    const { projects, rows } = app.store.get();
    const shown = rail(projects, rows, app.view.getState().filter).flatMap((group) => group.rows);
    const row = shown[Number(key) - 1];
    if (row) openSession(app, row.id);
  },
};
