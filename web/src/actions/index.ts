// All actions, registered once: keys, palette and key list read this table. Those of a region come
// before the global ones.
import {
  allowAlways,
  allowOnce,
  deny,
  nextRequest,
  previousRequest,
  writeReason,
} from "./answer-request";
import type { Action } from "./app";
import { chooseMode } from "./choose-mode";
import { chooseModel } from "./choose-model";
import { openKeys, openPalette, switchSession } from "./dialogs";
import { jumpAttention } from "./jump-attention";
import {
  filterSessions,
  goHome,
  jumpToEnd,
  nextTurn,
  previousTurn,
  regionBack,
  regionForward,
  toggleRail,
} from "./move";
import { newSession } from "./new-session";
import { nthSession } from "./nth-session";
import { renameSession } from "./rename-session";
import { startDemo } from "./start-demo";
import { stopRun } from "./stop-run";
import { toggleTheme } from "./toggle-theme";

export const actions: readonly Action[] = [
  allowOnce,
  allowAlways,
  deny,
  writeReason,
  nextRequest,
  previousRequest,
  newSession,
  switchSession,
  nthSession,
  jumpAttention,
  stopRun,
  renameSession,
  chooseMode,
  chooseModel,
  previousTurn,
  nextTurn,
  jumpToEnd,
  filterSessions,
  toggleRail,
  toggleTheme,
  goHome,
  startDemo,
  openPalette,
  openKeys,
  regionForward,
  regionBack,
];
