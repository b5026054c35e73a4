// Opens the lists of commands, keys and sessions.
import { texts } from "../ui/texts";
import type { Action } from "./app";

export const openPalette: Action = {
  id: "palette",
  title: texts.actions.palette,
  keys: ["mod+k"],
  quiet: true,
  run: (app) => app.view.setState({ dialog: "palette" }),
};

export const openKeys: Action = {
  id: "keys",
  title: texts.actions.keys,
  keys: ["?"],
  run: (app) => app.view.setState({ dialog: "keys" }),
};

export const switchSession: Action = {
  id: "switch-session",
  title: texts.actions.switchSession,
  keys: ["mod+p"],
  run: (app) => app.view.setState({ dialog: "sessions" }),
};
