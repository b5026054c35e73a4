// The card that shows what a folder brings, and asks whether it may act. It names each thing with
// its place, stands where other requests stand, covers nothing and takes no focus by itself.
import { useEffect, useId, useState } from "react";
import { decideTrust, readTrust } from "../../actions/decide-trust";
import { leaveAttention } from "../../actions/jump-attention";
import type { Brought, BroughtKind, TrustDecision } from "../../protocol";
import type { Failure } from "../../store/state";
import { Button } from "../../ui/Button";
import { StateSign } from "../../ui/StateSign";
import { failureText, texts } from "../../ui/texts";
import { useApp, useOpenRow, useOpenThread, useStored } from "../context";

/** The card of the open session's folder; read anew after each run, for a run may change it. */
export function SessionTrust() {
  const path = useOpenRow()?.projectPath ?? null;
  const running = useOpenThread((thread) => thread?.running ?? false);
  return <Trust path={path} again={running} />;
}

export function Trust({ path, again = false }: { path: string | null; again?: boolean }) {
  const app = useApp();
  const live = useStored((state) => state.line === "live");
  const report = useStored((state) => (path ? (state.trust[path] ?? null) : null));
  // biome-ignore lint/correctness/useExhaustiveDependencies: `again` is the wish itself
  useEffect(() => {
    if (!path || !live) return;
    const read = () => void readTrust(app, path);
    read();
    window.addEventListener("focus", read);
    return () => window.removeEventListener("focus", read);
  }, [app, path, live, again]);
  const waits = report?.brings.filter((brought) => brought.loosens) ?? [];
  const asks = path && waits.length > 0 && (report?.state === "no" || report?.state === "changed");
  return (
    <>
      <p aria-live="polite" className="sr-only">
        {asks ? texts.trust.announce : ""}
      </p>
      {asks && (
        <Card key={report?.hash} path={path} waits={waits} changed={report?.state === "changed"} />
      )}
    </>
  );
}

function Card({ path, waits, changed }: { path: string; waits: Brought[]; changed: boolean }) {
  const app = useApp();
  const [failure, setFailure] = useState<Failure | null>(null);
  const [sending, setSending] = useState(false);
  const [open, setOpen] = useState(false);
  const list = useId();
  const decide = (decision: TrustDecision) => {
    setSending(true);
    void decideTrust(app, path, decision).then((failed) => {
      setFailure(failed);
      setSending(false);
    });
  };
  return (
    <section
      id="trust"
      tabIndex={-1}
      aria-label={texts.trust.label}
      className="fade-in flex max-h-[50dvh] shrink-0 flex-col border-attention border-t-2 bg-attention-tint outline-none"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        leaveAttention();
      }}
    >
      <div className="page-pad flex items-center gap-2 pt-2 pb-1.5 text-sm">
        <StateSign state="needsYou" />
        <h2 tabIndex={-1} data-focus-first className="min-w-0 font-semibold outline-offset-2">
          {texts.trust.brings(counted(waits))}
        </h2>
        <Button
          small
          className="max-wide:min-h-11"
          aria-expanded={open}
          aria-controls={list}
          onClick={() => setOpen(!open)}
        >
          {open ? texts.trust.hide : texts.trust.show}
        </Button>
      </div>
      {open && (
        <ul id={list} className="page-pad min-h-0 overflow-y-auto pb-1.5 text-sm">
          {waits.map((brought) => (
            <li key={`${brought.file}:${brought.line}:${brought.text}`} className="py-0.5">
              <span className="[overflow-wrap:anywhere]">{brought.text}</span>{" "}
              <span className="text-muted text-xs [overflow-wrap:anywhere]">
                {place(brought, path)}
              </span>
            </li>
          ))}
        </ul>
      )}
      <p className="page-pad pb-1.5 text-muted text-xs">
        {changed ? texts.trust.changed : texts.trust.before}
      </p>
      <div className="page-pad flex flex-wrap gap-1.5 pb-2.5">
        <Button
          look="line"
          className="h-7 bg-surface max-wide:min-h-11 max-wide:flex-1"
          disabled={sending}
          onClick={() => decide("trust")}
        >
          {texts.trust.trust}
        </Button>
        <Button
          look="line"
          className="h-7 bg-surface max-wide:min-h-11 max-wide:flex-1"
          disabled={sending}
          onClick={() => decide("deny")}
        >
          {texts.trust.deny}
        </Button>
      </div>
      {failure && (
        <p role="alert" className="page-pad pb-2 text-danger text-xs">
          {failureText(failure)}
        </p>
      )}
    </section>
  );
}

/** How many of each kind, such as `2 hooks`. */
function counted(waits: Brought[]): string {
  const counts = new Map<BroughtKind, number>();
  for (const { kind } of waits) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => texts.trust.kind[kind](count)).join(", ");
}

function place(brought: Brought, folder: string): string {
  const file = brought.file.startsWith(`${folder}/`)
    ? brought.file.slice(folder.length + 1)
    : brought.file;
  return brought.line ? `${file}:${brought.line}` : file;
}
