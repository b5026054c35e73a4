// The lists that float: commands, keys, sessions, modes, models, and the second yes for bypass.
import { useEffect, useState } from "react";
import { actions } from "../actions";
import type { Action, App } from "../actions/app";
import { MODES, setMode } from "../actions/choose-mode";
import { setModel } from "../actions/choose-model";
import { shown } from "../actions/keys";
import { openSession } from "../actions/open-session";
import type { ProviderInfo } from "../protocol";
import { Button } from "../ui/Button";
import { shortPath } from "../ui/format";
import { type Choice, Dialog, Picker } from "../ui/Picker";
import { StateSign } from "../ui/StateSign";
import { texts } from "../ui/texts";
import { useApp, useOpenRow, useStored, useView } from "./context";

export function Dialogs() {
  const dialog = useView((view) => view.dialog);
  switch (dialog) {
    case null:
      return null;
    case "palette":
      return <Palette />;
    case "keys":
      return <KeyList />;
    case "sessions":
      return <Sessions />;
    case "modes":
      return <Modes />;
    case "models":
      return <Models />;
    case "bypass":
      return <Bypass />;
  }
}

function close(app: App): void {
  app.view.setState({ dialog: null });
}

function keyNames(action: Action): string {
  return action.keysShown ?? (action.keys ?? []).map((keys) => shown(keys)).join(", ");
}

function Palette() {
  const app = useApp();
  const here = actions.filter((action) => !action.quiet && (action.when?.(app) ?? true));
  const choices = here.map((action): Choice => {
    const names = keyNames(action);
    return { id: action.id, title: action.title, ...(names ? { mark: <kbd>{names}</kbd> } : {}) };
  });
  return (
    <Picker
      title={texts.palette.title}
      placeholder={texts.palette.search}
      choices={choices}
      onClose={() => close(app)}
      onChoose={(id) => {
        close(app);
        void here.find((action) => action.id === id)?.run(app);
      }}
    />
  );
}

function KeyList() {
  const app = useApp();
  const keyed = actions.filter((action) => keyNames(action) !== "");
  return (
    <Dialog title={texts.palette.keys} onClose={() => close(app)}>
      <div className="flex items-center border-line border-b px-4 py-2">
        <h2 className="mr-auto font-medium">{texts.palette.keys}</h2>
        <Button small onClick={() => close(app)}>
          {texts.palette.close}
        </Button>
      </div>
      <dl className="max-h-[60vh] columns-1 gap-8 overflow-y-auto px-4 py-3 text-sm wide:columns-2">
        {keyed.map((action) => (
          <div key={action.id} className="flex break-inside-avoid items-baseline gap-3 py-0.5">
            <dt className="min-w-0 flex-1">{action.title}</dt>
            <dd className="shrink-0 text-muted text-xs">
              <kbd>{keyNames(action)}</kbd>
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

function Sessions() {
  const app = useApp();
  const rows = useStored((state) => state.rows);
  const home = useStored((state) => state.host?.home ?? null);
  const choices = Object.values(rows)
    .filter((row) => row.status !== "deleted")
    .sort((a, b) => b.lastTurnAt - a.lastTurnAt)
    .map(
      (row): Choice => ({
        id: row.id,
        title: row.title || texts.rail.untitled,
        detail: shortPath(row.projectPath, home, 36),
        mark: <StateSign state={row.state ?? "idle"} />,
      }),
    );
  return (
    <Picker
      title={texts.palette.sessions}
      placeholder={texts.palette.sessionsSearch}
      choices={choices}
      onClose={() => close(app)}
      onChoose={(id) => openSession(app, id)}
    />
  );
}

function Modes() {
  const app = useApp();
  const now = useOpenRow()?.permissionMode ?? "default";
  const choices = MODES.map(
    (mode): Choice => ({
      id: mode,
      title: texts.modes[mode].name,
      detail: texts.modes[mode].means,
      chosen: mode === now,
      danger: mode === "bypassPermissions",
    }),
  );
  return (
    <Picker
      title={texts.modes.title}
      choices={choices}
      onClose={() => close(app)}
      onChoose={(id) => {
        const mode = MODES.find((known) => known === id);
        if (mode) void setMode(app, mode);
      }}
    />
  );
}

function Bypass() {
  const app = useApp();
  return (
    <Dialog title={texts.bypass.title} onClose={() => close(app)}>
      <div className="p-4">
        <h2 className="font-medium text-danger">{texts.bypass.title}</h2>
        <p className="mt-1 text-muted">{texts.bypass.body}</p>
        <div className="mt-4 flex justify-end gap-2">
          <Button look="line" onClick={() => close(app)}>
            {texts.bypass.cancel}
          </Button>
          <Button look="danger" onClick={() => void setMode(app, "bypassPermissions", true)}>
            {texts.bypass.confirm}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function Models() {
  const app = useApp();
  const row = useOpenRow();
  const [providers, setProviders] = useState<ProviderInfo[] | null>(null);
  useEffect(() => {
    app.client.call("providers.list", {}).then(setProviders, () => setProviders([]));
  }, [app]);
  const choices = (providers ?? []).flatMap((provider) =>
    provider.models.map(
      (model): Choice => ({
        id: `${provider.id} ${model}`,
        title: model,
        detail: [
          provider.name,
          provider.supported ? "" : texts.models.unsupported,
          provider.authMode === "apiKey" && !provider.hasApiKey ? texts.models.noKey : "",
          provider.scripted ? texts.models.scripted : "",
        ]
          .filter(Boolean)
          .join(" \u00b7 "),
        chosen: provider.id === row?.provider && model === row?.model,
        disabled: !provider.supported || (provider.authMode === "apiKey" && !provider.hasApiKey),
      }),
    ),
  );
  return (
    <Picker
      title={texts.models.title}
      choices={choices}
      empty={providers ? texts.models.none : texts.models.loading}
      onClose={() => close(app)}
      onChoose={(id) => {
        const [provider = "", ...model] = id.split(" ");
        void setModel(app, provider, model.join(" "));
      }}
    />
  );
}
