// The quiet header of a turn: when, who, with which model.
import type { Line } from "../../store/select";
import { clock, exact } from "../../ui/format";
import { texts } from "../../ui/texts";
import { useOpenRow } from "../context";

export function HeadLine({ line }: { line: Extract<Line, { kind: "head" }> }) {
  const scripted = useOpenRow()?.scripted ?? false;
  const person = line.role === "user";
  const rule = person && !line.first ? "mt-5 border-t border-line pt-3" : "mt-2";
  const known = line.at > 0;
  return (
    <div className="page-pad">
      <div className={`flex items-baseline gap-2 pb-1 text-muted text-xs ${rule}`}>
        {known && (
          <time dateTime={new Date(line.at).toISOString()} title={exact(line.at)}>
            {clock(line.at)}
          </time>
        )}
        <h2 className="font-medium">{person ? texts.thread.you : texts.thread.agent}</h2>
        {!person && line.model && <span>{line.model}</span>}
        {!person && scripted && <span>{texts.head.scriptedShort}</span>}
      </div>
    </div>
  );
}
