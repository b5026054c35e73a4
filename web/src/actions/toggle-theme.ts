// System, light, dark, and round again; kept in this browser.

import type { Theme } from "../store/view";
import { texts } from "../ui/texts";
import type { Action, App } from "./app";

const STORED = "ostler.theme";
const ORDER: readonly Theme[] = ["system", "light", "dark"];

export function storedTheme(storage: App["storage"]): Theme {
  const stored = storage.getItem(STORED);
  return ORDER.find((theme) => theme === stored) ?? "system";
}

export const toggleTheme: Action = {
  id: "toggle-theme",
  title: texts.actions.theme,
  run(app) {
    const at = ORDER.indexOf(app.view.getState().theme);
    const theme = ORDER[(at + 1) % ORDER.length] ?? "system";
    app.storage.setItem(STORED, theme);
    app.view.setState({ theme });
  },
};
