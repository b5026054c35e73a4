// Streaming text: each delta once by its place, the snapshot in place of its deltas, never two
// texts compared or blended (ipc.md ).
import type { EventOf } from "../../protocol";
import type { Part, Thread, WordsPart } from "../state";
import { withMessage } from "./messages";

type Kind = WordsPart["kind"];

export function delta(
  thread: Thread,
  event: EventOf<"text_delta"> | EventOf<"thinking_delta">,
  kind: Kind,
  at: number,
): Thread {
  let lost = false;
  const next = withMessage(thread, event.messageId, at, (parts) => {
    const index = parts.findIndex((part) => isWords(part) && part.block === event.block);
    const old = parts[index];
    if (!old || !isWords(old)) {
      lost = event.n > 0;
      return lost
        ? parts
        : insert(parts, words(event.messageId, kind, event.block, event.delta, 1));
    }
    if (old.next === null || event.n < old.next) return parts;
    lost = event.n > old.next;
    if (lost) return parts;
    return parts.with(index, { ...old, text: old.text + event.delta, next: event.n + 1 });
  });
  return lost ? { ...next, stale: !next.opening } : next;
}

/** The text of a whole response: it stands instead of what its deltas gave. */
export function finish(
  thread: Thread,
  messageId: string,
  kind: Kind,
  content: string,
  at: number,
): Thread {
  return withMessage(thread, messageId, at, (parts) => {
    const mine = parts.filter((part): part is WordsPart => part.kind === kind);
    if (mine.length > 1) return parts.map((part) => (part.kind === kind ? final(part) : part));
    const [old] = mine;
    if (!old) return insert(parts, words(messageId, kind, firstFree(parts, kind), content, null));
    return parts.map((part) => (part === old ? { ...old, text: content, next: null } : part));
  });
}

/** Drops what a broken response had written so far. */
export function reset(thread: Thread, messageId: string): Thread {
  const next = withMessage(thread, messageId, 0, (parts) =>
    parts.filter((part) => !isWords(part) || part.next === null),
  );
  const messages = next.messages.filter(
    (message) => message.id !== messageId || message.parts.length > 0,
  );
  return { ...next, messages, writing: null };
}

/** Ends all unfinished text where it stands. */
export function settle(thread: Thread): Thread {
  const open = (part: Part) => isWords(part) && part.next !== null;
  if (!thread.messages.some((message) => message.parts.some(open))) return thread;
  const messages = thread.messages.map((message) =>
    message.parts.some(open) ? { ...message, parts: message.parts.map(final) } : message,
  );
  return { ...thread, messages };
}

export function words(
  messageId: string,
  kind: Kind,
  block: number,
  text: string,
  next: number | null,
): WordsPart {
  return { kind, key: `${messageId}:${block}`, block, text, next };
}

export function isWords(part: Part): part is WordsPart {
  return part.kind === "text" || part.kind === "thinking";
}

function final(part: Part): Part {
  return isWords(part) && part.next !== null ? { ...part, next: null } : part;
}

/** By position; parts of other kinds keep their place after the text that they follow. */
export function insert(parts: Part[], part: WordsPart): Part[] {
  const before = parts.findIndex((other) => isWords(other) && other.block > part.block);
  return before < 0 ? [...parts, part] : parts.toSpliced(before, 0, part);
}

function firstFree(parts: Part[], kind: Kind): number {
  if (kind === "thinking") return -1;
  return Math.max(-1, ...parts.map((part) => (isWords(part) ? part.block : -1))) + 1;
}
