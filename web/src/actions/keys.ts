// From a key press to the action that it means. Single letters act outside text fields only, and
// nothing acts while an input method composes.
import type { Action, App } from "./app";

export interface Press {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  isComposing: boolean;
}

/** On a Mac the commands' key is Cmd; Ctrl edits text there and is left alone. */
export const MAC = /Mac|iPhone|iPad/.test(navigator.platform);

export function matches(press: Press, keys: string, mac = MAC): boolean {
  const parts = keys.toLowerCase().split("+");
  const name = parts.pop() ?? "";
  const [mod, other] = mac ? [press.metaKey, press.ctrlKey] : [press.ctrlKey, press.metaKey];
  if (other || mod !== parts.includes("mod")) return false;
  if (press.altKey !== parts.includes("alt")) return false;
  if (parts.includes("shift") !== press.shiftKey && name.length > 1) return false;
  return press.key.toLowerCase() === name;
}

export function find(
  actions: readonly Action[],
  app: App,
  press: Press,
  inText: boolean,
): Action | null {
  if (press.isComposing) return null;
  const bare = !press.ctrlKey && !press.metaKey && !press.altKey && press.key.length === 1;
  if (inText && bare) return null;
  const fits = (action: Action) =>
    (action.keys ?? []).some((keys) => matches(press, keys)) && (action.when?.(app) ?? true);
  return actions.find(fits) ?? null;
}

export function isTextField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLTextAreaElement || target.isContentEditable) return true;
  return (
    target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type)
  );
}

/** Keys as they stand on this machine's keyboard. */
export function shown(keys: string, mac = MAC): string {
  return keys
    .split("+")
    .map((part) => {
      if (part === "mod") return mac ? "\u2318" : "Ctrl";
      if (part === "alt") return mac ? "\u2325" : "Alt";
      if (part === "shift") return mac ? "\u21e7" : "Shift";
      return part.length === 1 ? part.toUpperCase() : part;
    })
    .join(mac ? "" : "+");
}
