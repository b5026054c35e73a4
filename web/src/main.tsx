// Starts the page: takes the key, makes the store, follows the address. Nothing else runs first.
import { createRoot } from "react-dom/client";
import type { App as Context } from "./actions/app";
import { openSession } from "./actions/open-session";
import { storedTheme } from "./actions/toggle-theme";
import { App } from "./app";
import { createClient, takeKey } from "./client";
import { createStateStore } from "./store";
import { emptyState } from "./store/state";
import { createSync } from "./store/sync";
import { createViewStore } from "./store/view";
import "./ui/page.css";

function sessionOf(hash: string): string | null {
  return /^#\/s\/([0-9a-f-]{36})$/i.exec(hash)?.[1] ?? null;
}

function soon(run: () => void): void {
  if (document.visibilityState === "visible") requestAnimationFrame(run);
  else setTimeout(run, 100);
}

const key = takeKey(location, (url) => history.replaceState(null, "", url), localStorage);
const view = createViewStore({ theme: storedTheme(localStorage) });
if (view.getState().theme !== "system")
  document.documentElement.dataset.theme = view.getState().theme;
const store = createStateStore(key ? emptyState() : { ...emptyState(), line: "locked" });
const client = createClient(key ?? "");
const sync = key
  ? createSync(client, store, { now: Date.now, soon })
  : {
      stop() {},
      hurry() {},
      watch: async () => {},
      older: async () => {},
      reopen: async () => {},
      refresh: async () => {},
    };

const app: Context = {
  client,
  store,
  view,
  sync,
  storage: localStorage,
  now: Date.now,
  navigate(sessionId) {
    const hash = sessionId ? `#/s/${sessionId}` : "#/";
    if (location.hash !== hash) history.pushState(null, "", hash);
  },
};

if (key) {
  const follow = () => openSession(app, sessionOf(location.hash));
  addEventListener("popstate", follow);
  addEventListener("online", () => sync.hurry());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") sync.hurry();
  });
  const first = sessionOf(location.hash);
  if (first) openSession(app, first);
}

if (!key) {
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#k=")) location.reload();
  });
}

const place = document.getElementById("app");
if (place) createRoot(place).render(<App app={app} />);
