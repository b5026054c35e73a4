// What stands below the newest line: what the agent does right now, or why the run failed.
import type { Thread } from "../../store/state";
import { duration } from "../../ui/format";
import { failureText, texts } from "../../ui/texts";
import { useNow } from "../useNow";
import { UsageLine } from "./EndLine";

export function Tail({ thread }: { thread: Thread }) {
  const last = thread.messages.at(-1);
  const open = last?.parts.some(
    (part) =>
      (part.kind === "text" && part.next !== null) ||
      (part.kind === "tool" && part.result === null),
  );
  const waits = thread.requests.length > 0;
  const since = last?.at ?? 0;
  return (
    <div className="page-pad pb-4">
      {thread.runFailure && (
        <div role="alert" className="measure mt-2 border-danger border-l-2 pl-3">
          <p className="font-medium text-danger">{texts.thread.runFailed}</p>
          <p className="break-words">{failureText(thread.runFailure)}</p>
          {thread.runFailure.hint && <p className="text-muted">{thread.runFailure.hint}</p>}
        </div>
      )}
      {thread.running && thread.writing && (
        <Doing
          said={texts.thread.writing(thread.writing.toolName, thread.writing.chars)}
          since={since}
        />
      )}
      {thread.running && !thread.writing && !open && !waits && (
        <Doing said={texts.thread.working} since={since} />
      )}
      {!thread.running && last?.ending && <UsageLine />}
    </div>
  );
}

function Doing({ said, since }: { said: string; since: number }) {
  const now = useNow(1_000);
  const ms = now - since;
  return (
    <p className="flex items-center gap-2 pt-1 text-muted text-sm">
      <span className="beat size-1.5 rounded-small bg-running" aria-hidden="true" />
      {said}
      {since > 0 && ms > 2_000 && (
        <span className="text-xs">{duration(Math.floor(ms / 1_000) * 1_000)}</span>
      )}
    </p>
  );
}
