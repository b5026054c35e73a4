// The states of a transcript without a document: each says what it is and offers one action.
import type { ReactNode } from "react";
import { focusRegion } from "../../actions/focus";
import { openSession } from "../../actions/open-session";
import type { Thread } from "../../store/state";
import { Button } from "../../ui/Button";
import { shortPath } from "../../ui/format";
import { failureText, texts } from "../../ui/texts";
import { useApp, useOpenRow, useStored } from "../context";

function Notice(props: { title: string; children: ReactNode; action: ReactNode }) {
  return (
    <div className="page-pad flex flex-1 flex-col justify-center pb-16">
      <div className="mx-auto w-full max-w-[28rem]">
        <h2 className="font-medium text-lg">{props.title}</h2>
        <div className="mt-1 text-muted">{props.children}</div>
        <div className="mt-4">{props.action}</div>
      </div>
    </div>
  );
}

export function EmptyThread() {
  const row = useOpenRow();
  const home = useStored((state) => state.host?.home ?? null);
  return (
    <Notice
      title={texts.thread.empty}
      action={
        <Button look="line" onClick={() => focusRegion("composer")}>
          {texts.thread.emptyAction}
        </Button>
      }
    >
      <p>{texts.thread.emptyBody(shortPath(row?.projectPath ?? "", home))}</p>
      {row?.scripted && <p className="mt-2">{texts.head.scripted}</p>}
    </Notice>
  );
}

export function MissingThread() {
  const app = useApp();
  return (
    <Notice
      title={texts.thread.missing}
      action={
        <Button look="primary" onClick={() => openSession(app, null)}>
          {texts.thread.missingAction}
        </Button>
      }
    >
      <p>{texts.thread.missingBody}</p>
    </Notice>
  );
}

export function FailedThread({ thread }: { thread: Thread }) {
  const app = useApp();
  return (
    <Notice
      title={texts.thread.failed}
      action={
        <Button look="primary" onClick={() => void app.sync.reopen(thread.sessionId)}>
          {texts.thread.retry}
        </Button>
      }
    >
      <p>{texts.thread.failedBody}</p>
      {thread.failure && <p className="mt-2 text-danger">{failureText(thread.failure)}</p>}
      {thread.failure?.hint && <p>{thread.failure.hint}</p>}
    </Notice>
  );
}

export function LoadingThread() {
  return (
    <div className="page-pad late flex-1 pt-6">
      <span role="status" className="sr-only">
        {texts.thread.loading}
      </span>
      <div className="measure space-y-3" aria-hidden="true">
        <div className="h-12 rounded-base bg-tint" />
        <div className="h-4 w-2/5 rounded-small bg-tint" />
        <div className="h-4 w-3/5 rounded-small bg-tint" />
        <div className="h-4 w-full rounded-small bg-tint" />
        <div className="h-4 w-4/5 rounded-small bg-tint" />
      </div>
    </div>
  );
}
