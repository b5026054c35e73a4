// How messages and their parts are found, made and changed. Every change copies only the message
// that it touches, so that a row of any other one is drawn once.
import type { TranscriptBlock } from "../../protocol";
import type { Message, Part, Thread, ToolPart } from "../state";

export function emptyMessage(id: string, role: Message["role"], at: number): Message {
  return { id, role, at, model: null, interrupted: false, parts: [], ending: null };
}

export function toolKey(id: string): string {
  return `tool:${id}`;
}

export function toolPart(
  id: string,
  name: string,
  args: Record<string, unknown>,
  title: string,
): ToolPart {
  return {
    kind: "tool",
    key: toolKey(id),
    id,
    name,
    title,
    args,
    startedAt: null,
    elapsedMs: null,
    tail: "",
    result: null,
    diff: null,
  };
}

/** The parts of a stored message; results go to the calls that they answer. */
export function partsOf(messageId: string, blocks: TranscriptBlock[]): Part[] {
  const parts: Part[] = [];
  let block = 0;
  for (const [index, piece] of blocks.entries()) {
    const key = `${messageId}:${block}`;
    switch (piece.type) {
      case "text":
        parts.push({ kind: "text", key, block, text: piece.text, next: null });
        block += 1;
        break;
      case "thinking":
        parts.push({ kind: "thinking", key, block, text: piece.thinking, next: null });
        block += 1;
        break;
      case "tool_use":
        parts.push(toolPart(piece.id, piece.name, piece.input, piece.title));
        block += 1;
        break;
      case "tool_result":
        answer(parts, piece);
        break;
      case "image":
        parts.push({
          kind: "image",
          key: `${key}:image`,
          mediaType: piece.mediaType,
          data: piece.data,
        });
        break;
      case "notice":
        parts.push({
          kind: "notice",
          key: `${messageId}:notice:${index}`,
          level: piece.level,
          content: piece.content,
        });
        break;
    }
  }
  return parts;
}

function answer(parts: Part[], piece: Extract<TranscriptBlock, { type: "tool_result" }>): void {
  const at = parts.findIndex((part) => part.key === toolKey(piece.toolUseId));
  const tool = parts[at];
  if (tool?.kind !== "tool") return;
  parts[at] = {
    ...tool,
    diff: piece.diff ?? null,
    result: {
      content: piece.content,
      ok: piece.ok,
      ms: piece.ms ?? null,
      deniedBy: piece.deniedBy ?? null,
      total: piece.truncated?.total ?? null,
    },
  };
}

export function userMessage(id: string, blocks: TranscriptBlock[], at: number): Message {
  return { ...emptyMessage(id, "user", at), parts: partsOf(id, blocks) };
}

/** Adds a message, or replaces the one of the same id where it stands. */
export function putMessage(thread: Thread, message: Message): Thread {
  const known = thread.messages.some((old) => old.id === message.id);
  const messages = known
    ? thread.messages.map((old) => (old.id === message.id ? { ...message, at: old.at } : old))
    : [...thread.messages, message];
  return { ...thread, messages };
}

/** Changes the parts of a message, which is added as the agent's if it is new. */
export function withMessage(
  thread: Thread,
  id: string,
  at: number,
  change: (parts: Part[]) => Part[],
): Thread {
  const index = thread.messages.findLastIndex((message) => message.id === id);
  const old = thread.messages[index] ?? emptyMessage(id, "assistant", at);
  const parts = change(old.parts);
  if (parts === old.parts) return thread;
  const next = { ...old, parts };
  const messages = index < 0 ? [...thread.messages, next] : thread.messages.with(index, next);
  return { ...thread, messages };
}

export function withTool(thread: Thread, id: string, change: (tool: ToolPart) => ToolPart): Thread {
  const key = toolKey(id);
  const index = thread.messages.findLastIndex((message) =>
    message.parts.some((part) => part.key === key),
  );
  const message = thread.messages[index];
  if (!message) return thread;
  const parts = message.parts.map((part) =>
    part.key === key && part.kind === "tool" ? change(part) : part,
  );
  return { ...thread, messages: thread.messages.with(index, { ...message, parts }) };
}
