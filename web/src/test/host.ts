// A host in miniature: says the same things as events and as a transcript, so that tests can hold
// the one against the other. It shares no code with the reducer.
import type {
  KnownEvent,
  OpenBlock,
  SessionOpenResult,
  SessionRow,
  TranscriptBlock,
  TranscriptMessage,
} from "../protocol";

export const SESSION = "11111111-1111-4111-8111-111111111111";

export function row(change: Partial<SessionRow> = {}): SessionRow {
  return {
    id: SESSION,
    title: "A session",
    projectPath: "/home/ada/code",
    provider: "scripted",
    model: "demo",
    status: "active",
    createdAt: 1,
    updatedAt: 1,
    lastTurnAt: 1,
    turnCount: 1,
    state: "idle",
    pending: 0,
    bytes: 10,
    permissionMode: "default",
    ...change,
  };
}

type Said = KnownEvent extends infer E
  ? E extends KnownEvent
    ? Omit<E, "seq" | "epoch">
    : never
  : never;

export class MiniHost {
  epoch = "one";
  seq = 0;
  running = false;
  messages: TranscriptMessage[] = [];
  openBlock: OpenBlock | null = null;
  log: { event: KnownEvent; after: SessionOpenResult }[] = [];

  emit(said: Said): KnownEvent {
    this.seq += 1;
    const event = { sessionId: SESSION, seq: this.seq, epoch: this.epoch, ...said } as KnownEvent;
    this.log.push({ event, after: this.open() });
    return event;
  }

  open(): SessionOpenResult {
    return structuredClone({
      row: row({ state: this.running ? "running" : "idle" }),
      messages: this.messages,
      older: false,
      seq: this.seq,
      epoch: this.epoch,
      requests: [],
      questions: [],
      todos: [],
      tasks: [],
      queue: [],
      openBlock: this.openBlock,
    });
  }

  user(id: string, text: string): void {
    this.running = true;
    this.emit({ type: "session.created", projectPath: "/home/ada/code" });
    const blocks: TranscriptBlock[] = [{ type: "text", text }];
    this.messages.push({ id, role: "user", blocks, at: 1 });
    this.emit({ type: "user_message", messageId: id, blocks });
  }

  /** Streams one block in pieces, then closes it with its snapshot. */
  words(messageId: string, block: number, kind: "text" | "thinking", deltas: string[]): void {
    for (const [n, delta] of deltas.entries()) {
      const text = deltas.slice(0, n + 1).join("");
      this.openBlock = { messageId, block, n: n + 1, thinking: kind === "thinking", text };
      this.emit({
        type: kind === "text" ? "text_delta" : "thinking_delta",
        messageId,
        block,
        n,
        delta,
      });
    }
    const content = deltas.join("");
    this.openBlock = null;
    this.blocks(messageId).push(
      kind === "text" ? { type: "text", text: content } : { type: "thinking", thinking: content },
    );
    this.emit({ type: kind, messageId, content });
  }

  tool(messageId: string, id: string, result: string, success: boolean): void {
    const args = { command: `run ${id}` };
    this.blocks(messageId).push({ type: "tool_use", id, name: "Bash", input: args, title: id });
    this.emit({ type: "tool_start", toolCallId: id, toolName: "Bash", args, title: id, messageId });
    this.emit({ type: "tool_progress", toolCallId: id, elapsedMs: 5, bytes: 1, tail: "." });
    this.blocks(messageId).push({
      type: "tool_result",
      toolUseId: id,
      content: result,
      ok: success,
    });
    this.emit({ type: "tool_complete", toolCallId: id, toolName: "Bash", result, success });
  }

  done(messageId: string): void {
    this.running = false;
    this.emit({ type: "done", content: "Done", messageId, ms: 9, model: "demo", reason: "end" });
  }

  private blocks(id: string): TranscriptBlock[] {
    const known = this.messages.find((message) => message.id === id);
    if (known) return known.blocks;
    const message: TranscriptMessage = { id, role: "assistant", blocks: [], at: 1 };
    this.messages.push(message);
    return message.blocks;
  }
}

/** A run with all that streams: reasoning, text, calls, a failing one, several responses. */
export function script(host: MiniHost): void {
  host.user("u1", "Do it");
  host.words("a1", 0, "thinking", ["Let ", "me ", "see"]);
  host.words("a1", 1, "text", ["I ", "will ", "look."]);
  host.tool("a1", "t1", "fine", true);
  host.tool("a1", "t2", "broken", false);
  host.words("a2", 0, "text", ["It ", "is ", "done."]);
  host.done("a2");
  host.user("u2", "More");
  host.words("a3", 0, "text", ["Yes", "."]);
  host.done("a3");
}
