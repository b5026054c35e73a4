// Arrows, Home and End move between the sessions of the rail.
import { type KeyboardEvent, useCallback } from "react";

export function useRowKeys() {
  return useCallback((event: KeyboardEvent<HTMLElement>) => {
    const rows = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-row]")];
    const here = rows.findIndex((row) => row.contains(document.activeElement));
    if (here < 0) return;
    const to: Record<string, number> = {
      ArrowDown: here + 1,
      ArrowUp: here - 1,
      Home: 0,
      End: rows.length - 1,
    };
    const row = rows[to[event.key] ?? -1];
    if (!row) return;
    event.preventDefault();
    row.focus();
  }, []);
}
