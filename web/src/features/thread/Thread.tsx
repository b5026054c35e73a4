// The transcript as a document. It follows its end only while the reader is there; nothing moves
// under a reader who is not.
import { useEffect, useMemo, useRef, useState } from "react";
import { VList, type VListHandle } from "virtua";
import { jumpToEnd } from "../../actions/move";
import { type Line, lines } from "../../store/select";
import type { Thread as ThreadState } from "../../store/state";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { texts } from "../../ui/texts";
import { useApp, useOpenThread, useView } from "../context";
import { Announcer } from "./Announcer";
import { LineView } from "./LineView";
import { EmptyThread, FailedThread, LoadingThread, MissingThread } from "./States";
import { Tail } from "./Tail";

export function Thread() {
  const thread = useOpenThread((open) => open);
  return (
    <section
      id="thread"
      tabIndex={-1}
      aria-label={texts.regions.thread}
      className="relative flex min-h-0 flex-1 flex-col outline-none"
    >
      <Body thread={thread} />
      {thread && <Announcer thread={thread} />}
    </section>
  );
}

function Body({ thread }: { thread: ThreadState | null }) {
  if (!thread || thread.status === "loading") return <LoadingThread />;
  if (thread.status === "missing") return <MissingThread />;
  if (thread.status === "failed") return <FailedThread thread={thread} />;
  const bare = thread.messages.length === 0 && thread.outgoing.length === 0;
  if (bare && !thread.running && !thread.runFailure) return <EmptyThread />;
  return <Document key={thread.sessionId} thread={thread} />;
}

const NEAR = 32;

function Document({ thread }: { thread: ThreadState }) {
  const app = useApp();
  const list = useRef<VListHandle>(null);
  const follow = useRef(true);
  const last = useRef(0);
  const [away, setAway] = useState(false);
  const toEnd = useView((view) => view.toEnd);
  const shown = useMemo(() => lines(thread), [thread]);
  const [count, setCount] = useState(shown.length);
  const firstKey = useRef(shown[0]?.key);
  const grewAtTop = firstKey.current !== shown[0]?.key && shown.length > count;

  const stick = () => {
    const handle = list.current;
    if (handle && follow.current) handle.scrollTo(handle.scrollSize);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new line or delta may need it
  useEffect(() => {
    firstKey.current = shown[0]?.key;
    setCount(shown.length);
    stick();
  }, [shown, thread.writing, thread.running]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `toEnd` is the wish itself
  useEffect(() => {
    follow.current = true;
    stick();
  }, [toEnd]);

  const toTurn = useView((view) => view.toTurn);
  const wished = useRef(toTurn.wish);
  useEffect(() => {
    const handle = list.current;
    if (!handle || wished.current === toTurn.wish) return;
    wished.current = toTurn.wish;
    // The first item of the list is what stands above the document.
    const here = handle.findItemIndex(handle.scrollOffset + 1) - 1;
    const turns = [...shown.keys()].filter((at) => isTurn(shown[at]));
    const to = toTurn.by > 0 ? turns.find((at) => at > here) : turns.findLast((at) => at < here);
    if (to === undefined) return;
    follow.current = false;
    handle.scrollToIndex(to + 1, { align: "start" });
  }, [shown, toTurn]);

  const onScroll = (offset: number) => {
    const handle = list.current;
    if (!handle) return;
    const atEnd = handle.scrollSize - offset - handle.viewportSize < NEAR;
    if (atEnd) follow.current = true;
    else if (offset < last.current - 1) follow.current = false;
    last.current = offset;
    setAway(!atEnd && !follow.current);
  };

  return (
    <>
      <VList
        ref={list}
        shift={grewAtTop}
        className="min-h-0 flex-1"
        style={{ height: "auto" }}
        onScroll={onScroll}
        onResize={stick}
        tabIndex={0}
        data-focus-first
        bufferSize={600}
      >
        {thread.older ? <Older key="older" thread={thread} /> : <div key="top" className="h-3" />}
        {shown.map((line) => (
          <LineView key={line.key} line={line} />
        ))}
        <Tail key="tail" thread={thread} />
      </VList>
      {away && (
        <Button
          look="line"
          small
          className="fade-in -translate-x-1/2 absolute bottom-2 left-1/2 h-7 bg-raised px-2.5"
          style={{ boxShadow: "var(--float)" }}
          onClick={() => void jumpToEnd.run(app)}
        >
          <Icon name="down" className="size-3.5" />
          {texts.thread.toEnd}
        </Button>
      )}
    </>
  );
}

function isTurn(line: Line | undefined): boolean {
  return line?.kind === "head" && line.role === "user";
}

function Older({ thread }: { thread: ThreadState }) {
  const app = useApp();
  return (
    <div className="page-pad py-3">
      <Button
        look="line"
        small
        disabled={thread.opening}
        onClick={() => void app.sync.older(thread.sessionId)}
      >
        {thread.opening ? texts.thread.olderLoading : texts.thread.older}
      </Button>
    </div>
  );
}
