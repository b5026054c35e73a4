// The page without an open session: begin one, go on with one, or set up a model first.
import { newSession } from "../../actions/new-session";
import { startDemo } from "../../actions/start-demo";
import { Button } from "../../ui/Button";
import { shortPath } from "../../ui/format";
import { failureText, texts } from "../../ui/texts";
import { Trust } from "../attention";
import { useApp, useStored } from "../context";
import { NoModel } from "./NoModel";
import { Recent } from "./Recent";

export function Start() {
  const host = useStored((state) => state.host);
  const failed = useStored((state) => state.startFailure);
  return (
    <div className="page-pad min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto w-full max-w-[34rem] py-[max(2rem,10vh)]">
        {host ? <Ready /> : failed ? <Failed /> : <Loading />}
      </div>
    </div>
  );
}

function Ready() {
  const app = useApp();
  const host = useStored((state) => state.host);
  if (!host?.provider) return <NoModel />;
  const path = shortPath(host.cwd, host.home);
  return (
    <>
      <h1 className="font-medium text-xl tracking-tight">{texts.start.title}</h1>
      <p className="mt-1 text-muted" title={host.cwd}>
        {texts.start.folder(path)}
      </p>
      {host.scripted && <p className="mt-1 text-attention">{texts.head.scripted}</p>}
      <div className="mt-4 flex flex-wrap gap-2">
        <Button look="primary" onClick={() => void newSession.run(app)}>
          {texts.start.begin}
        </Button>
        <Button look="line" onClick={() => void startDemo.run(app)}>
          {texts.start.demo}
        </Button>
      </div>
      <div className="mt-6 -mx-3">
        <Trust path={host.cwd} />
      </div>
      <Recent />
    </>
  );
}

function Failed() {
  const app = useApp();
  const failed = useStored((state) => state.startFailure);
  return (
    <>
      <h1 className="font-medium text-lg">{texts.start.failed}</h1>
      {failed && <p className="mt-1">{failureText(failed)}</p>}
      {failed?.hint && <p className="text-muted">{failed.hint}</p>}
      <p className="mt-1 text-muted">{texts.start.failedKept}</p>
      <Button look="primary" className="mt-4" onClick={() => void app.sync.refresh()}>
        {texts.start.retry}
      </Button>
    </>
  );
}

function Loading() {
  return (
    <div className="late">
      <span role="status" className="sr-only">
        {texts.start.loading}
      </span>
      <div aria-hidden="true" className="space-y-3">
        <div className="h-7 w-3/5 rounded-small bg-tint" />
        <div className="h-4 w-4/5 rounded-small bg-tint" />
        <div className="h-8 w-32 rounded-base bg-tint" />
      </div>
    </div>
  );
}
