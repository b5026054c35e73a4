// What the agent says and thinks, and notices of the host.
import { lazy, Suspense, useState } from "react";
import type { NoticeLevel } from "../../protocol";
import { CopyButton } from "../../ui/CopyButton";
import { Icon } from "../../ui/Icon";
import { texts } from "../../ui/texts";

const Markdown = lazy(() => import("./markdown/Markdown"));

export function TextLine({ text, done }: { text: string; done: boolean }) {
  return (
    <div className="page-pad group/text py-1">
      <div className="measure relative">
        <Suspense fallback={<p className="whitespace-pre-wrap break-words">{text}</p>}>
          <Markdown text={text} done={done} />
        </Suspense>
        {done && (
          <CopyButton
            text={text}
            className="absolute -top-1 left-full opacity-0 focus-visible:opacity-100 group-hover/text:opacity-100 max-full:hidden"
          />
        )}
      </div>
    </div>
  );
}

export function ThinkingLine({ text, done }: { text: string; done: boolean }) {
  const [open, setOpen] = useState(false);
  const last = text.trimEnd().split("\n").at(-1) ?? "";
  return (
    <div className="page-pad py-0.5">
      <button
        type="button"
        aria-expanded={open}
        className="-mx-1 flex max-w-full items-center gap-1.5 rounded-small px-1 text-left text-muted text-sm hover:bg-hover max-wide:min-h-9"
        onClick={() => setOpen(!open)}
      >
        <Icon
          name="chevron"
          className={`size-3 transition-transform duration-150 ${open ? "rotate-90" : ""}`}
        />
        <span className="shrink-0">{done ? texts.thread.thought : texts.thread.thinking}</span>
        {!open && <span className="min-w-0 truncate text-xs opacity-80">{last}</span>}
      </button>
      {open && (
        <p className="measure mt-1 ml-1 whitespace-pre-wrap break-words border-line border-l-2 pl-3 text-muted text-sm">
          {text}
        </p>
      )}
    </div>
  );
}

export function NoticeLine({ level, content }: { level: NoticeLevel; content: string }) {
  return (
    <div className="page-pad py-0.5">
      <p
        className={`measure flex gap-1.5 text-sm ${level === "warn" ? "text-attention" : "text-muted"}`}
      >
        <span aria-hidden="true" className="w-3 shrink-0 text-center">
          {level === "warn" ? "!" : "\u00b7"}
        </span>
        {content}
      </p>
    </div>
  );
}
