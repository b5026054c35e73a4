// To the request that waits, and back to where one was. Never by itself: only by this key.
import { texts } from "../ui/texts";
import { type Action, questionInView, requestInView } from "./app";
import { focusRegion } from "./focus";
import { openSession } from "./open-session";

let cameFrom: HTMLElement | null = null;

export const jumpAttention: Action = {
  id: "jump-attention",
  title: texts.actions.attention,
  keys: ["mod+j"],
  run(app) {
    const regions = ["attention", "questions", "trust"] as const;
    const bars = regions.map((region) => document.getElementById(region));
    if (bars.some((bar) => bar?.contains(document.activeElement))) return leaveAttention();
    if (requestInView(app) || questionInView(app)) {
      cameFrom = document.activeElement instanceof HTMLElement ? document.activeElement : null;
      app.view.setState({ region: "thread", dialog: null });
      focusRegion(requestInView(app) ? "attention" : "questions");
      return;
    }
    if (document.getElementById("trust")) {
      cameFrom = document.activeElement instanceof HTMLElement ? document.activeElement : null;
      focusRegion("trust");
      return;
    }
    const waiting = Object.values(app.store.get().rows).find((row) => (row.pending ?? 0) > 0);
    if (waiting) openSession(app, waiting.id);
  },
};

export function leaveAttention(): void {
  if (cameFrom?.isConnected) cameFrom.focus();
  else focusRegion("composer");
  cameFrom = null;
}
