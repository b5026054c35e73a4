// The bar that asks. It stands between transcript and composer, covers nothing, takes no focus by
// itself, and answers only to what the person does at least half a second after it appeared.
import { type MouseEvent, useEffect } from "react";
import { answer, rested, showRequest } from "../../actions/answer-request";
import { type App, openThread } from "../../actions/app";
import { leaveAttention } from "../../actions/jump-attention";
import type { PermissionAsked } from "../../protocol";
import { Button } from "../../ui/Button";
import { shortPath } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { StateSign } from "../../ui/StateSign";
import { failureText, texts } from "../../ui/texts";
import { useApp, useOpenThread, useStored, useView } from "../context";
import { AlwaysForm } from "./AlwaysForm";
import { Asked } from "./Asked";

const NONE: PermissionAsked[] = [];

export function Attention() {
  const app = useApp();
  const requests = useOpenThread((thread) => thread?.requests ?? NONE);
  const wanted = useView((view) => view.answering.requestId);
  const at = Math.max(
    0,
    requests.findIndex((request) => request.requestId === wanted),
  );
  const request = requests[at] ?? null;
  const id = request?.requestId ?? null;
  const hash = request?.hash ?? null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another request, or another content of it
  useEffect(() => {
    const before = app.view.getState().answering.requestId;
    if (before !== null || request !== null) showRequest(app, request);
  }, [app, id, hash]);
  return (
    <>
      <p aria-live="assertive" className="sr-only">
        {request ? texts.attention.announce(request.description) : ""}
      </p>
      {request && <Bar request={request} at={at} of={requests.length} />}
    </>
  );
}

function Bar({ request, at, of }: { request: PermissionAsked; at: number; of: number }) {
  const app = useApp();
  const stage = useView((view) => view.answering.stage);
  const failure = useView((view) => view.answering.failure);
  const home = useStored((state) => state.host?.home ?? null);
  return (
    <section
      id="attention"
      data-request={request.requestId}
      tabIndex={-1}
      aria-label={texts.regions.attention}
      className="fade-in flex max-h-[50dvh] shrink-0 flex-col border-attention border-t-2 bg-attention-tint outline-none"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        if (stage === "always") back(app);
        else leaveAttention();
      }}
    >
      <div className="page-pad flex items-center gap-2 pt-2 pb-1.5 text-sm">
        <StateSign state="needsYou" />
        <h2 tabIndex={-1} data-focus-first className="shrink-0 font-semibold outline-offset-2">
          {texts.attention.kind[kindOf(request)]}
        </h2>
        <span className="min-w-0 truncate text-muted text-xs" title={request.cwd}>
          {texts.attention.runIn(shortPath(request.cwd, home, 40))}
        </span>
        {of > 1 && <Turns requests={of} at={at} />}
      </div>
      <div className="page-pad min-h-0 overflow-y-auto pb-1.5">
        <Asked request={request} />
      </div>
      <div className="page-pad pb-2.5">
        {stage === "always" ? <AlwaysForm request={request} /> : <Choices request={request} />}
        {failure && (
          <p role="alert" className="pt-1.5 text-danger text-xs">
            {failureText(failure)}
            {failure.hint ? ` ${failure.hint}` : ""}
          </p>
        )}
      </div>
    </section>
  );
}

function back(app: App): void {
  app.view.setState((view) => ({ answering: { ...view.answering, stage: "choose" } }));
}

/** A click made by a key counts as a key, and keys rest first. */
export function guarded(app: App, run: () => void) {
  return (event: MouseEvent) => {
    if (event.detail > 0 || rested(app)) run();
  };
}

function Choices({ request }: { request: PermissionAsked }) {
  const app = useApp();
  const { reason, sending } = useView((view) => view.answering);
  const edit = kindOf(request) === "edit";
  const set = (change: { reason?: string; stage?: "always" }) =>
    app.view.setState((view) => ({ answering: { ...view.answering, ...change } }));
  const small = "h-7 max-wide:min-h-11 max-wide:flex-1";
  return (
    <div className="flex flex-wrap items-center gap-1.5">
      <Button
        look="primary"
        className={small}
        disabled={sending}
        aria-keyshortcuts="1"
        onClick={guarded(app, () => void answer(app, "allow-once"))}
      >
        <Key name="1" />
        {edit ? texts.attention.apply : texts.attention.once}
      </Button>
      <Button
        look="line"
        className={`${small} bg-surface`}
        disabled={sending || !request.suggestedRule}
        title={request.suggestedRule ? undefined : texts.attention.noRule}
        aria-keyshortcuts="2"
        onClick={guarded(app, () => set({ stage: "always" }))}
      >
        <Key name="2" />
        {texts.attention.always}
      </Button>
      <Button
        look="line"
        className={`${small} bg-surface`}
        disabled={sending}
        aria-keyshortcuts="3"
        onClick={guarded(app, () => void answer(app, "deny"))}
      >
        <Key name="3" />
        {texts.attention.deny}
      </Button>
      <input
        id="attention-reason"
        aria-label={texts.attention.reason}
        placeholder={texts.attention.reasonShort}
        maxLength={2000}
        className="h-7 min-w-32 flex-1 rounded-base border border-line bg-surface px-2 text-sm max-wide:h-11 max-wide:basis-full"
        value={reason}
        onChange={(event) => set({ reason: event.target.value })}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.nativeEvent.isComposing) void answer(app, "deny");
        }}
      />
    </div>
  );
}

export function Key({ name }: { name: string }) {
  return (
    <kbd aria-hidden="true" className="text-xs opacity-70 max-wide:hidden">
      {name}
    </kbd>
  );
}

function Turns({ requests, at }: { requests: number; at: number }) {
  const app = useApp();
  const go = (by: number) => {
    const next = openThread(app)?.requests[(at + by + requests) % requests];
    if (next) showRequest(app, next);
  };
  return (
    <span className="ml-auto flex shrink-0 items-center gap-0.5 text-xs">
      <Button small aria-label={texts.attention.previous} onClick={() => go(-1)}>
        <Icon name="back" className="size-3.5" />
      </Button>
      {texts.attention.count(at + 1, requests)}
      <Button small aria-label={texts.attention.next} onClick={() => go(1)}>
        <Icon name="chevron" className="size-3.5" />
      </Button>
    </span>
  );
}

function kindOf(request: PermissionAsked): keyof typeof texts.attention.kind {
  if (typeof request.args.command === "string") return "command";
  if (request.diff && request.diff.length > 0) return "edit";
  if (request.targets.some((target) => target.host)) return "network";
  return "tool";
}
