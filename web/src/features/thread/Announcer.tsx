// Tells screen readers of finished text, politely and once. Deltas are never told.
import { useEffect, useRef, useState } from "react";
import type { Thread } from "../../store/state";
import { texts } from "../../ui/texts";

export function Announcer({ thread }: { thread: Thread }) {
  const [said, setSaid] = useState("");
  const told = useRef<{ session: string; keys: Set<string> } | null>(null);
  useEffect(() => {
    const finished = thread.messages.flatMap((message) =>
      message.role === "assistant"
        ? message.parts.filter((part) => part.kind === "text" && part.next === null)
        : [],
    );
    if (told.current?.session !== thread.sessionId) {
      told.current = { session: thread.sessionId, keys: new Set(finished.map((part) => part.key)) };
      return;
    }
    const { keys } = told.current;
    const fresh = finished.filter((part) => !keys.has(part.key));
    for (const part of fresh) keys.add(part.key);
    const newest = fresh.at(-1);
    if (newest?.kind === "text") setSaid(texts.thread.said(newest.text.slice(0, 400)));
  }, [thread]);
  return (
    <p aria-live="polite" className="sr-only">
      {said}
    </p>
  );
}
