// Text that was being written when the host stopped: kept for the reader, never mixed with what
// the session holds.
import type { CutText } from "../../store/state";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { texts } from "../../ui/texts";
import { useApp, useView } from "../context";

export function CutLine({ cut }: { cut: CutText }) {
  const app = useApp();
  const sessionId = useView((view) => view.sessionId);
  return (
    <div className="page-pad py-2">
      <div className="measure border-line-strong border-t border-dashed pt-1.5">
        <div className="flex flex-wrap items-center gap-x-2 text-muted text-xs">
          <span className="mr-auto">{texts.thread.cut}</span>
          <CopyButton text={cut.text} />
          <Button
            small
            onClick={() => {
              if (sessionId) app.store.dispatch({ kind: "cutGone", sessionId, key: cut.key });
            }}
          >
            {texts.thread.cutDrop}
          </Button>
        </div>
        <p className="mt-1 whitespace-pre-wrap break-words text-muted">{cut.text}</p>
      </div>
    </div>
  );
}
