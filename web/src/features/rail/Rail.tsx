// The rail: projects with their sessions, what each is doing, and a new one.
import { useMemo } from "react";
import { openPalette } from "../../actions/dialogs";
import { goHome } from "../../actions/move";
import { newSession, startSession } from "../../actions/new-session";
import { openSession } from "../../actions/open-session";
import { toggleTheme } from "../../actions/toggle-theme";
import { type RailGroup, rail, waitingCount } from "../../store/select";
import type { Row } from "../../store/state";
import { Button } from "../../ui/Button";
import { ago, exact, shortPath } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { StateSign } from "../../ui/StateSign";
import { texts } from "../../ui/texts";
import { useApp, useStored, useView } from "../context";
import { useNow } from "../useNow";
import { useRowKeys } from "./useRowKeys";

export function Rail() {
  const app = useApp();
  const projects = useStored((state) => state.projects);
  const rows = useStored((state) => state.rows);
  const listed = useStored((state) => state.listed);
  const filter = useView((view) => view.filter);
  const groups = useMemo(() => rail(projects, rows, filter), [projects, rows, filter]);
  const onKeyDown = useRowKeys();
  const none = groups.every((group) => group.rows.length === 0);
  return (
    <nav
      id="rail"
      tabIndex={-1}
      aria-label={texts.regions.rail}
      className="flex h-full min-h-0 flex-col border-line bg-sunken outline-none wide:border-r"
    >
      <Top />
      <div className="px-3 pb-2">
        <label className="flex items-center gap-2 rounded-base border border-line bg-surface px-2 focus-within:border-line-strong">
          <Icon name="search" className="size-3.5 text-muted" />
          <span className="sr-only">{texts.rail.filter}</span>
          <input
            id="rail-filter"
            type="search"
            placeholder={texts.rail.filter}
            className="h-7 w-full min-w-0 bg-transparent text-sm outline-none max-wide:h-11"
            value={filter}
            onChange={(event) => app.view.setState({ filter: event.target.value })}
            onKeyDown={(event) => {
              if (event.key === "Escape") app.view.setState({ filter: "" });
            }}
          />
        </label>
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: arrows move between the buttons inside */}
      <div className="min-h-0 flex-1 overflow-y-auto px-1.5 pb-3" onKeyDown={onKeyDown}>
        {!listed && <Skeleton />}
        {listed && none && filter === "" && <Empty />}
        {listed && groups.length === 0 && filter !== "" && <NoMatch />}
        {groups.map((group) => (
          <Group key={group.path} group={group} />
        ))}
      </div>
    </nav>
  );
}

function Top() {
  const app = useApp();
  const waiting = useStored((state) => waitingCount(state.rows));
  const theme = useView((view) => view.theme);
  return (
    <div className="px-3 pt-2.5 pb-2">
      <div className="mb-2 flex h-7 items-center gap-1">
        <button
          type="button"
          className="mr-auto rounded-small px-1 font-semibold text-base tracking-tight"
          onClick={() => void goHome.run(app)}
        >
          {texts.rail.title}
        </button>
        {waiting > 0 && (
          <span
            className="flex items-center gap-1 text-attention text-xs"
            title={texts.rail.waiting(waiting)}
          >
            <StateSign state="needsYou" />
            <span aria-hidden="true">{waiting}</span>
          </span>
        )}
        <Button
          small
          aria-label={texts.theme[theme]}
          title={texts.theme[theme]}
          onClick={() => void toggleTheme.run(app)}
        >
          <ThemeSign theme={theme} />
        </Button>
        <Button
          small
          aria-label={texts.head.more}
          title={texts.actions.palette}
          onClick={() => void openPalette.run(app)}
        >
          <Icon name="more" />
        </Button>
      </div>
      <Button
        look="line"
        className="w-full bg-surface"
        data-focus-first
        onClick={() => void newSession.run(app)}
      >
        <Icon name="plus" />
        {texts.rail.create}
      </Button>
    </div>
  );
}

function ThemeSign({ theme }: { theme: "system" | "light" | "dark" }) {
  const fill = {
    system: "M8 2a6 6 0 0 0 0 12z",
    light: "",
    dark: "M8 2a6 6 0 0 0 0 12A6 6 0 0 0 8 2z",
  };
  return (
    <svg viewBox="0 0 16 16" className="size-3.5" aria-hidden="true">
      <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <path d={fill[theme]} fill="currentColor" />
    </svg>
  );
}

function Group({ group }: { group: RailGroup }) {
  const app = useApp();
  const home = useStored((state) => state.host?.home ?? null);
  return (
    <section aria-label={group.name} className="mt-3 first:mt-1">
      <div className="group flex h-7 items-center px-1.5">
        <h2
          className="min-w-0 truncate font-medium text-muted text-xs"
          title={shortPath(group.path, home, 200)}
        >
          {group.name}
        </h2>
        {!group.exists && <span className="ml-2 text-muted text-xs italic">{texts.rail.gone}</span>}
        {group.exists && (
          <Button
            small
            className="ml-auto opacity-0 focus-visible:opacity-100 group-hover:opacity-100 max-wide:opacity-100"
            aria-label={texts.rail.createIn(group.name)}
            title={texts.rail.createIn(group.name)}
            onClick={() => void startSession(app, group.path)}
          >
            <Icon name="plus" className="size-3.5" />
          </Button>
        )}
      </div>
      <ul>
        {group.rows.map((row) => (
          <Session key={row.id} row={row} />
        ))}
      </ul>
    </section>
  );
}

function Session({ row }: { row: Row }) {
  const app = useApp();
  const now = useNow();
  const open = useView((view) => view.sessionId === row.id);
  const state = row.state ?? "idle";
  const at = Math.max(row.lastTurnAt, row.createdAt);
  return (
    <li>
      <button
        type="button"
        data-row
        aria-current={open ? "page" : undefined}
        className={`flex w-full items-center gap-2 rounded-base px-1.5 py-1 text-left text-sm max-wide:min-h-11 ${open ? "bg-hover font-medium" : "hover:bg-hover"}`}
        onClick={() => openSession(app, row.id)}
      >
        <StateSign state={state} />
        <span className="min-w-0 flex-1 truncate" title={row.title}>
          {row.title || texts.rail.untitled}
        </span>
        {row.scripted && <span className="text-muted text-xs">{texts.rail.scripted}</span>}
        {state === "needsYou" ? (
          <span className="text-attention text-xs" aria-hidden="true">
            {texts.state.needsYou}
          </span>
        ) : (
          <time
            className="text-muted text-xs"
            dateTime={new Date(at).toISOString()}
            title={exact(at)}
          >
            {ago(at, now)}
          </time>
        )}
      </button>
    </li>
  );
}

function Empty() {
  return (
    <div className="px-2 py-4 text-muted text-sm">
      <p className="text-text">{texts.rail.empty}</p>
      <p className="mt-1 text-xs">{texts.rail.emptyHint}</p>
    </div>
  );
}

function NoMatch() {
  const app = useApp();
  return (
    <div className="px-2 py-4 text-sm">
      <p>{texts.rail.noMatch}</p>
      <Button look="line" small className="mt-2" onClick={() => app.view.setState({ filter: "" })}>
        {texts.rail.clear}
      </Button>
    </div>
  );
}

function Skeleton() {
  return (
    <div className="late space-y-2 px-1.5 py-2" aria-hidden="true">
      {[70, 88, 60, 76].map((width) => (
        <div key={width} className="h-5 rounded-small bg-hover" style={{ width: `${width}%` }} />
      ))}
    </div>
  );
}
