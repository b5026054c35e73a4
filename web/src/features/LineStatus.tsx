// Lines at the top of the page that say what is not as usual: the connection, a failed action, a
// session that another process holds. The page stays usable below them.
import { Button } from "../ui/Button";
import { ago } from "../ui/format";
import { failureText, texts } from "../ui/texts";
import { useApp, useOpenRow, useStored, useView } from "./context";
import { useNow } from "./useNow";

export function LineStatus() {
  const app = useApp();
  const line = useStored((state) => state.line);
  const lastGood = useStored((state) => state.lastGoodAt);
  const problem = useView((view) => view.problem);
  const holder = useOpenRow()?.lockedBy ?? null;
  const now = useNow(5_000, line === "reconnecting");
  return (
    <div className="shrink-0 text-sm">
      {line === "reconnecting" && (
        <p role="status" className="page-pad late border-line border-b bg-tint py-1 text-muted">
          {texts.line.reconnecting} {lastGood !== null && texts.line.lastGood(heard(lastGood, now))}
        </p>
      )}
      {holder !== null && (
        <p className="page-pad border-line border-b bg-tint py-1 text-muted">
          {texts.head.locked(holder)}
        </p>
      )}
      {problem && (
        <div
          role="alert"
          className="page-pad flex items-baseline gap-2 border-line border-b bg-danger-tint py-1 text-danger"
        >
          <span className="min-w-0 flex-1 break-words">
            {failureText(problem)}{" "}
            {problem.hint && <span className="text-muted">{problem.hint}</span>}
          </span>
          <Button small onClick={() => app.view.setState({ problem: null })}>
            {texts.problem.dismiss}
          </Button>
        </div>
      )}
    </div>
  );
}

function heard(at: number, now: number): string {
  const said = ago(at, now);
  return said === "now" ? texts.line.justNow : texts.line.before(said);
}
