// A tool call as one line that opens in place: what it did, how long, how it went.
import { type ReactNode, useState } from "react";
import type { ToolPart } from "../../../store/state";
import { DiffCount } from "../../../ui/Diff";
import { duration } from "../../../ui/format";
import { Icon } from "../../../ui/Icon";
import { texts } from "../../../ui/texts";
import { useOpenRow, useOpenThread } from "../../context";
import { useNow } from "../../useNow";
import { ToolBody } from "./ToolBody";
import { toolWords } from "./words";

export function ToolLine({ tool, live }: { tool: ToolPart; live: boolean }) {
  const project = useOpenRow()?.projectPath ?? "";
  const waits = useWaits(tool.id);
  const { verb, about, code } = toolWords(tool, project, waits);
  return (
    <ToolRow
      tail={live ? tool.tail : ""}
      summary={
        <>
          <span className="shrink-0">{verb}</span>
          <span className={`min-w-0 truncate text-text ${code ? "font-mono text-xs" : ""}`}>
            {about}
          </span>
          {tool.diff && tool.diff.length > 0 && (
            <DiffCount added={sum(tool, "added")} removed={sum(tool, "removed")} />
          )}
          <Outcome tool={tool} live={live} waits={waits} />
        </>
      }
    >
      <ToolBody tool={tool} />
    </ToolRow>
  );
}

export function ToolRow(props: { summary: ReactNode; children: ReactNode; tail?: string }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="page-pad py-px">
      <button
        type="button"
        aria-expanded={open}
        className="-mx-1 flex min-h-6 w-[calc(100%+0.5rem)] items-center gap-1.5 rounded-small px-1 text-left text-muted text-sm hover:bg-hover max-wide:min-h-9"
        onClick={() => setOpen(!open)}
      >
        <Icon
          name="chevron"
          className={`size-3 transition-transform duration-150 ${open ? "rotate-90" : ""}`}
        />
        {props.summary}
      </button>
      {!open && props.tail && (
        <pre className="mt-0.5 ml-[1.125rem] max-h-24 overflow-hidden whitespace-pre-wrap break-all border-line border-l pl-2.5 text-muted text-xs">
          {props.tail}
        </pre>
      )}
      {open && <div className="mt-1 mb-2 ml-[1.125rem]">{props.children}</div>}
    </div>
  );
}

function sum(tool: ToolPart, what: "added" | "removed"): number {
  return (tool.diff ?? []).reduce((all, file) => all + file[what], 0);
}

function useWaits(id: string): boolean {
  return useOpenThread(
    (thread) => thread?.requests.some((request) => request.toolCallId === id) ?? false,
  );
}

function Outcome({ tool, live, waits }: { tool: ToolPart; live: boolean; waits: boolean }) {
  const { result } = tool;
  if (waits) return <Mark said={texts.tool.waits} className="text-attention" />;
  if (!result) return live ? <Elapsed tool={tool} /> : <Mark said={texts.tool.unfinished} />;
  return (
    <span className="ml-auto flex shrink-0 items-center gap-2 pl-2 text-xs">
      {result.ms !== null && result.ms >= 1_000 && <span>{duration(result.ms)}</span>}
      {result.deniedBy && <Bad said={texts.tool.denied} />}
      {!result.ok && !result.deniedBy && <Bad said={texts.tool.failed} />}
    </span>
  );
}

function Mark({ said, className = "" }: { said: string; className?: string }) {
  return <span className={`ml-auto shrink-0 pl-2 text-xs ${className}`}>{said}</span>;
}

function Bad({ said }: { said: string }) {
  return (
    <span className="flex items-center gap-1 text-danger">
      <Icon name="close" className="size-3" />
      {said}
    </span>
  );
}

function Elapsed({ tool }: { tool: ToolPart }) {
  const now = useNow(1_000);
  const ms = tool.elapsedMs ?? (tool.startedAt ? now - tool.startedAt : 0);
  return (
    <span className="ml-auto flex shrink-0 items-center gap-2 pl-2 text-xs">
      {ms >= 1_000 && <span>{duration(Math.floor(ms / 1_000) * 1_000)}</span>}
      <span className="beat size-1.5 rounded-small bg-running" aria-hidden="true" />
    </span>
  );
}
