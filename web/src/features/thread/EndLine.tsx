// How a run ended: a quiet line, and a clear one if it was cut off.
import type { Ending } from "../../store/state";
import { tokens } from "../../ui/format";
import { texts } from "../../ui/texts";
import { useOpenThread } from "../context";

export function EndLine({ ending, interrupted }: { ending: Ending | null; interrupted: boolean }) {
  const stopped = interrupted || ending?.reason === "interrupted";
  const said = ending ? texts.thread.endReason[ending.reason] : "";
  return (
    <div className="page-pad pt-1">
      {stopped && (
        <p className="measure flex items-center gap-2 text-muted text-xs">
          <span className="h-0 flex-1 border-line-strong border-t border-dashed" />
          {texts.thread.interrupted}
          <span className="h-0 flex-1 border-line-strong border-t border-dashed" />
        </p>
      )}
      {ending && !stopped && (
        <p className="text-muted text-xs">
          {[texts.thread.ended(ending.ms), said].filter(Boolean).join(" \u00b7 ")}
        </p>
      )}
    </div>
  );
}

/** Tokens of the newest run, under its end. */
export function UsageLine() {
  const usage = useOpenThread((thread) => thread?.usage ?? null);
  if (!usage) return null;
  return (
    <p className="text-muted text-xs">
      {texts.thread.tokens(tokens(usage.input), tokens(usage.cacheRead), tokens(usage.output))}
    </p>
  );
}
