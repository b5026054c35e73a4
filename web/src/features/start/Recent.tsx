// The newest sessions, one click away.
import { openSession } from "../../actions/open-session";
import { ago, exact, shortPath } from "../../ui/format";
import { StateSign } from "../../ui/StateSign";
import { texts } from "../../ui/texts";
import { useApp, useStored } from "../context";
import { useNow } from "../useNow";

export function Recent() {
  const app = useApp();
  const now = useNow();
  const rows = useStored((state) => state.rows);
  const home = useStored((state) => state.host?.home ?? null);
  const newest = Object.values(rows)
    .filter((row) => row.status !== "deleted" && row.status !== "archived")
    .sort((a, b) => Math.max(b.lastTurnAt, b.createdAt) - Math.max(a.lastTurnAt, a.createdAt))
    .slice(0, 6);
  if (newest.length === 0) return null;
  return (
    <section className="mt-10">
      <h2 className="mb-1 font-medium text-muted text-xs">{texts.start.resume}</h2>
      <ul className="-mx-2">
        {newest.map((row) => (
          <li key={row.id}>
            <button
              type="button"
              className="flex w-full items-center gap-2.5 rounded-base px-2 py-1.5 text-left hover:bg-hover max-wide:min-h-11"
              onClick={() => openSession(app, row.id)}
            >
              <StateSign state={row.state ?? "idle"} />
              <span className="min-w-0 flex-1 truncate">{row.title || texts.rail.untitled}</span>
              <span
                className="min-w-0 truncate text-muted text-xs max-wide:hidden"
                title={row.projectPath}
              >
                {shortPath(row.projectPath, home, 30)}
              </span>
              <time
                className="w-12 shrink-0 text-right text-muted text-xs"
                title={exact(row.lastTurnAt)}
              >
                {ago(Math.max(row.lastTurnAt, row.createdAt), now)}
              </time>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
