// Moves the focus and the view: regions, filter, end of the transcript, start page.
import { texts } from "../ui/texts";
import type { Action, App } from "./app";
import { focusRegion, nextRegion } from "./focus";
import { openSession } from "./open-session";

export const filterSessions: Action = {
  id: "filter-sessions",
  title: texts.actions.filter,
  keys: ["/"],
  run(app) {
    app.view.setState({ railHidden: false, region: "rail", dialog: null });
    requestAnimationFrame(() => document.getElementById("rail-filter")?.focus());
  },
};

export const jumpToEnd: Action = {
  id: "jump-to-end",
  title: texts.actions.end,
  keys: ["mod+End"],
  when: (app) => app.view.getState().sessionId !== null,
  run: (app) => app.view.setState((view) => ({ toEnd: view.toEnd + 1, dialog: null })),
};

const inSession = (app: App) => app.view.getState().sessionId !== null;

export const nextTurn: Action = {
  id: "next-turn",
  title: texts.actions.nextTurn,
  keys: ["]"],
  quiet: true,
  when: inSession,
  run: (app) => app.view.setState((view) => ({ toTurn: { wish: view.toTurn.wish + 1, by: 1 } })),
};

export const previousTurn: Action = {
  id: "previous-turn",
  title: texts.actions.previousTurn,
  keys: ["["],
  quiet: true,
  when: inSession,
  run: (app) => app.view.setState((view) => ({ toTurn: { wish: view.toTurn.wish + 1, by: -1 } })),
};

export const toggleRail: Action = {
  id: "toggle-rail",
  title: texts.actions.rail,
  keys: ["mod+b"],
  run: (app) => app.view.setState((view) => ({ railHidden: !view.railHidden, dialog: null })),
};

export const goHome: Action = {
  id: "home",
  title: texts.actions.home,
  run(app) {
    openSession(app, null);
    app.view.setState({ region: "thread" });
  },
};

export const regionForward: Action = {
  id: "region-forward",
  title: texts.actions.region,
  keys: ["F6"],
  quiet: true,
  run: () => void step(1),
};

export const regionBack: Action = {
  id: "region-back",
  title: texts.actions.regionBack,
  keys: ["shift+F6"],
  quiet: true,
  run: () => void step(-1),
};

function step(by: 1 | -1): boolean {
  const region = nextRegion(by);
  return region !== null && focusRegion(region);
}
