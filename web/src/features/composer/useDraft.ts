// The text being written, kept per session in this browser, so that nothing typed is lost.
import { useCallback, useEffect, useRef, useState } from "react";
import { useApp } from "../context";

export function useDraft(sessionId: string): [string, (text: string) => void] {
  const { storage } = useApp();
  const key = `ostler.draft.${sessionId}`;
  const [draft, setDraft] = useState(() => storage.getItem(key) ?? "");
  const shown = useRef(key);
  useEffect(() => {
    if (shown.current === key) return;
    shown.current = key;
    setDraft(storage.getItem(key) ?? "");
  }, [storage, key]);
  const change = useCallback(
    (text: string) => {
      setDraft(text);
      if (text === "") storage.removeItem(key);
      else storage.setItem(key, text);
    },
    [storage, key],
  );
  return [draft, change];
}
