// The session header: title, model, mode, and how full the context window is.
import { useEffect, useRef } from "react";
import { chooseMode } from "../../actions/choose-mode";
import { chooseModel } from "../../actions/choose-model";
import { openPalette } from "../../actions/dialogs";
import { toggleRail } from "../../actions/move";
import { renameSession, saveTitle } from "../../actions/rename-session";
import type { Row } from "../../store/state";
import { Button } from "../../ui/Button";
import { shortPath, tokens } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { StateSign } from "../../ui/StateSign";
import { texts } from "../../ui/texts";
import { useApp, useOpenRow, useOpenThread, useStored, useView } from "../context";

export function Header() {
  const app = useApp();
  const row = useOpenRow();
  const hidden = useView((view) => view.railHidden);
  const home = useStored((state) => state.host?.home ?? null);
  if (!row) return null;
  const mode = row.permissionMode ?? "default";
  return (
    <header
      id="header"
      tabIndex={-1}
      className="flex min-h-11 flex-wrap items-center gap-x-2 border-line border-b px-2 py-1 outline-none wide:px-3"
    >
      <Button
        small
        className={`max-wide:hidden ${hidden ? "" : "full:hidden"}`}
        aria-label={hidden ? texts.rail.show : texts.rail.hide}
        onClick={() => void toggleRail.run(app)}
      >
        <Icon name="panel" />
      </Button>
      <Button
        small
        className="min-h-11 min-w-9 wide:hidden"
        aria-label={texts.bar.sessions}
        onClick={() => app.view.setState({ region: "rail" })}
      >
        <Icon name="back" />
      </Button>
      <StateSign state={row.state ?? "idle"} />
      <Title row={row} />
      <span className="min-w-0 truncate text-muted text-xs max-full:hidden" title={row.projectPath}>
        {shortPath(row.projectPath, home, 40)}
      </span>
      <span className="ml-auto flex items-center gap-1">
        <Context />
        {row.scripted && (
          <span
            className="rounded-small border border-line-strong px-1.5 text-muted text-xs"
            title={texts.head.scripted}
          >
            {texts.head.scriptedShort}
          </span>
        )}
        <Button small title={texts.head.model} onClick={() => void chooseModel.run(app)}>
          {row.model ?? texts.head.noModel}
        </Button>
        <Button
          small
          title={`${texts.head.mode}: ${texts.modes[mode].means}`}
          className={mode === "bypassPermissions" ? "font-semibold text-danger" : ""}
          onClick={() => void chooseMode.run(app)}
        >
          {texts.modes[mode].name}
        </Button>
        <Button
          small
          className="max-wide:hidden"
          aria-label={texts.head.more}
          title={texts.actions.palette}
          onClick={() => void openPalette.run(app)}
        >
          <Icon name="more" />
        </Button>
      </span>
    </header>
  );
}

function Title({ row }: { row: Row }) {
  const app = useApp();
  const renaming = useView((view) => view.renaming);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (renaming) field.current?.select();
  }, [renaming]);
  if (renaming) {
    return (
      <input
        ref={field}
        aria-label={texts.head.title}
        maxLength={200}
        defaultValue={row.title}
        className="h-7 min-w-0 flex-1 rounded-small border border-line-strong bg-raised px-1.5 font-medium"
        onBlur={(event) => {
          if (app.view.getState().renaming) void saveTitle(app, row.id, event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Enter") void saveTitle(app, row.id, event.currentTarget.value);
          if (event.key === "Escape") app.view.setState({ renaming: false });
          if (event.key === "Enter" || event.key === "Escape") event.stopPropagation();
        }}
      />
    );
  }
  return (
    <h1 className="min-w-0 font-medium">
      <button
        type="button"
        data-focus-first
        className="block max-w-full truncate rounded-small px-1 hover:bg-hover"
        title={texts.head.rename}
        onClick={() => void renameSession.run(app)}
      >
        {row.title || texts.rail.untitled}
      </button>
    </h1>
  );
}

function Context() {
  const usage = useOpenThread((thread) => thread?.usage ?? null);
  if (!usage?.context || !usage.window) return null;
  const part = Math.min(100, Math.round((usage.context / usage.window) * 100));
  return (
    <span
      role="img"
      aria-label={`${texts.head.contextLabel} ${part}\u2009%`}
      className="mr-1 flex items-center gap-1.5 text-muted text-xs max-wide:hidden"
      title={texts.head.context(tokens(usage.context), tokens(usage.window))}
    >
      <span className="h-1.5 w-14 overflow-hidden rounded-small border border-line-strong">
        <span className="block h-full bg-line-strong" style={{ width: `${part}%` }} />
      </span>
      {`${part}\u2009%`}
    </span>
  );
}
