// `session.open` enters here: the finished blocks are the host's, what was unfinished under an old
// epoch is set aside with its mark, and the two are never blended (ipc.md R-119).
import type { OpenBlock, SessionOpenResult, TranscriptMessage } from "../../protocol";
import type { CutText, Message, Thread } from "../state";
import { partsOf, withMessage } from "./messages";
import { insert, isWords, words } from "./words";

export function blend(old: Thread, result: SessionOpenResult): Thread {
  const known = new Map(old.messages.map((message) => [message.id, message]));
  const moved = old.epoch !== null && old.epoch !== result.epoch;
  const state = result.row.state;
  const fresh: Thread = {
    ...old,
    status: "ready",
    failure: null,
    opening: false,
    stale: false,
    epoch: result.epoch,
    seq: result.seq,
    messages: result.messages.map((message) => stored(message, known.get(message.id))),
    older: result.older,
    running: state === "running" || state === "needsYou",
    writing: moved ? null : old.writing,
    requests: result.requests,
    questions: result.questions,
    todos: result.todos,
    tasks: result.tasks,
    queue: result.queue,
    cut: moved ? [...old.cut, ...unfinished(old)] : old.cut,
  };
  return result.openBlock ? open(fresh, result.openBlock) : fresh;
}

function stored(message: TranscriptMessage, old: Message | undefined): Message {
  return {
    id: message.id,
    role: message.role,
    at: message.at,
    model: message.model ?? null,
    interrupted: message.interrupted ?? false,
    parts: partsOf(message.id, message.blocks),
    ending: old?.ending ?? null,
  };
}

function unfinished(thread: Thread): CutText[] {
  return thread.messages.flatMap((message) =>
    message.parts
      .filter(
        (part) => isWords(part) && part.kind === "text" && part.next !== null && part.text !== "",
      )
      .map((part) => ({
        key: `cut:${thread.epoch}:${part.key}`,
        text: isWords(part) ? part.text : "",
      })),
  );
}

function open(thread: Thread, block: OpenBlock): Thread {
  const kind = block.thinking ? "thinking" : "text";
  return withMessage(thread, block.messageId, 0, (parts) => {
    const rest = parts.filter((part) => !isWords(part) || part.block !== block.block);
    return insert(rest, words(block.messageId, kind, block.block, block.text, block.n));
  });
}
