// The change of files, unified: sign, position and colour each tell added from removed.
import type { DiffHunk, FileDiff } from "../protocol";
import { texts } from "./texts";

export function DiffCount({ added, removed }: { added: number; removed: number }) {
  return (
    <span className="inline-flex gap-1.5 font-mono text-xs">
      <span className="text-added">
        <span aria-hidden="true">{texts.diff.added(added)}</span>
        <span className="sr-only">{texts.diff.addedWord(added)}</span>
      </span>
      <span className="text-removed">
        <span aria-hidden="true">{texts.diff.removed(removed)}</span>
        <span className="sr-only">{texts.diff.removedWord(removed)}</span>
      </span>
    </span>
  );
}

export function Diff({ file, label }: { file: FileDiff; label: string }) {
  return (
    <div className="overflow-hidden rounded-base border border-line bg-surface">
      <div className="flex items-center gap-2 border-line border-b bg-sunken px-2.5 py-1 text-xs">
        <span className="min-w-0 truncate font-mono" title={file.path}>
          {label}
        </span>
        <span className="text-muted">{texts.diff.status[file.status]}</span>
        <span className="ml-auto">
          <DiffCount added={file.added} removed={file.removed} />
        </span>
      </div>
      {file.binary && <p className="px-2.5 py-2 text-muted text-xs">{texts.diff.binary}</p>}
      <section tabIndex={0} aria-label={texts.diff.table(label)} className="overflow-x-auto">
        <div className="w-max min-w-full font-mono text-xs leading-[1.45]">
          {file.hunks.map((hunk) => (
            <Hunk key={`${hunk.oldStart}:${hunk.newStart}`} hunk={hunk} />
          ))}
        </div>
      </section>
      {file.truncated && <p className="px-2.5 py-1 text-muted text-xs">{texts.diff.truncated}</p>}
    </div>
  );
}

const LOOK = {
  " ": { row: "", sign: " ", word: "" },
  "+": { row: "bg-added-tint", sign: "+", word: texts.diff.lineAdded },
  "-": { row: "bg-removed-tint", sign: "\u2212", word: texts.diff.lineRemoved },
} as const;

const INK = { " ": "text-muted", "+": "text-added", "-": "text-removed" } as const;

function Hunk({ hunk }: { hunk: DiffHunk }) {
  return (
    <div className="border-line border-t py-0.5 first:border-t-0">
      {numbered(hunk).map(({ line, at, key }) => (
        <div key={key} className={`flex whitespace-pre ${LOOK[line.op].row}`}>
          <span className="w-11 shrink-0 select-none pr-2 text-right text-muted">{at}</span>
          <span
            className={`w-4 shrink-0 select-none font-semibold ${INK[line.op]}`}
            aria-hidden="true"
          >
            {LOOK[line.op].sign}
          </span>
          {LOOK[line.op].word && <span className="sr-only">{LOOK[line.op].word}</span>}
          <code className="pr-3">{line.text}</code>
        </div>
      ))}
    </div>
  );
}

/** Removed lines count in the old file, all others in the new one. */
function numbered(hunk: DiffHunk) {
  let before = hunk.oldStart;
  let after = hunk.newStart;
  return hunk.lines.map((line) => {
    const at = line.op === "-" ? before : after;
    const key = `${line.op}${at}`;
    if (line.op !== "+") before += 1;
    if (line.op !== "-") after += 1;
    return { line, at, key };
  });
}
