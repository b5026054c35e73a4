// The page: three regions and what floats above them. It decides what is shown, not how.
import { useEffect } from "react";
import type { App as Context } from "./actions/app";
import { openPalette } from "./actions/dialogs";
import { Attention, Questions, SessionTrust } from "./features/attention";
import { Composer } from "./features/composer";
import { AppProvider, useApp, useOpenThread, useStored, useView } from "./features/context";
import { Dialogs } from "./features/Dialogs";
import { LineStatus } from "./features/LineStatus";
import { Rail } from "./features/rail";
import { Locked, Start } from "./features/start";
import { Header, Thread } from "./features/thread";
import { useKeys } from "./features/useKeys";
import { Work } from "./features/work";
import { waitingCount } from "./store/select";
import { Button } from "./ui/Button";
import { StateSign } from "./ui/StateSign";
import { texts } from "./ui/texts";

export function App({ app }: { app: Context }) {
  return (
    <AppProvider value={app}>
      <Page />
    </AppProvider>
  );
}

function Page() {
  const locked = useStored((state) => state.line === "locked");
  return locked ? <Locked /> : <Workspace />;
}

function Workspace() {
  const sessionId = useView((view) => view.sessionId);
  const region = useView((view) => view.region);
  const hidden = useView((view) => view.railHidden);
  useKeys();
  useTheme();
  useTitle();
  const railShown = region === "rail" ? "max-wide:block" : "max-wide:hidden";
  const mainShown = region === "thread" ? "max-wide:flex" : "max-wide:hidden";
  return (
    <div className="flex h-dvh flex-col">
      <a
        href="#message"
        className="sr-only z-10 bg-raised px-3 py-2 focus:not-sr-only focus:absolute"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("message")?.focus();
        }}
      >
        {texts.skip}
      </a>
      <div className="flex min-h-0 flex-1">
        <div
          className={`w-full shrink-0 wide:w-56 full:w-64 ${hidden ? "wide:hidden" : ""} ${railShown}`}
        >
          <Rail />
        </div>
        <main className={`min-w-0 flex-1 flex-col wide:flex ${mainShown}`}>
          <LineStatus />
          {sessionId ? <Session sessionId={sessionId} /> : <Start />}
        </main>
      </div>
      <BottomBar />
      <Dialogs />
    </div>
  );
}

function Session({ sessionId }: { sessionId: string }) {
  const status = useOpenThread((thread) => thread?.status);
  return (
    <>
      <Header />
      <Thread />
      <Work />
      <SessionTrust />
      <Questions />
      <Attention />
      {status !== "missing" && <Composer sessionId={sessionId} />}
    </>
  );
}

function BottomBar() {
  const app = useApp();
  const region = useView((view) => view.region);
  const waiting = useStored((state) => waitingCount(state.rows));
  const tab = (here: boolean) => `flex-1 min-h-11 ${here ? "text-text font-medium" : ""}`;
  return (
    <nav
      aria-label={texts.regions.bar}
      className="flex border-line border-t bg-sunken px-2 wide:hidden"
    >
      <Button
        className={tab(region === "rail")}
        aria-current={region === "rail" ? "page" : undefined}
        onClick={() => app.view.setState({ region: "rail" })}
      >
        {waiting > 0 && <StateSign state="needsYou" />}
        {texts.bar.sessions}
      </Button>
      <Button
        className={tab(region === "thread")}
        aria-current={region === "thread" ? "page" : undefined}
        onClick={() => app.view.setState({ region: "thread" })}
      >
        {texts.bar.chat}
      </Button>
      <Button className="min-h-11 flex-1" onClick={() => void openPalette.run(app)}>
        {texts.bar.more}
      </Button>
    </nav>
  );
}

function useTheme(): void {
  const theme = useView((view) => view.theme);
  useEffect(() => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }, [theme]);
}

function useTitle(): void {
  const id = useView((view) => view.sessionId);
  const title = useStored((state) => (id ? state.rows[id]?.title : undefined));
  const waiting = useStored((state) => waitingCount(state.rows));
  useEffect(() => {
    const mark = waiting > 0 ? `(${waiting}) ` : "";
    document.title = title ? `${mark}${title} \u2013 ${texts.product}` : `${mark}${texts.product}`;
  }, [title, waiting]);
}
