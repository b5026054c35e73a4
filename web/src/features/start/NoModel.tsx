// First start: no model is set up. A demo that needs none, and how to add one.
import type { ReactNode } from "react";
import { startDemo } from "../../actions/start-demo";
import { Button } from "../../ui/Button";
import { shortPath } from "../../ui/format";
import { Snippet } from "../../ui/Snippet";
import { texts } from "../../ui/texts";
import { useApp, useStored } from "../context";
import { Recent } from "./Recent";

export function NoModel() {
  const app = useApp();
  const host = useStored((state) => state.host);
  const home = host?.home ?? "~";
  return (
    <>
      <h1 className="font-medium text-xl tracking-tight">{texts.start.noModel}</h1>
      <p className="mt-1 text-muted">{texts.start.noModelBody}</p>
      <div className="mt-6 divide-y divide-line border-line border-y">
        <Way title={texts.start.demoTitle} body={texts.start.demoBody}>
          <Button look="primary" onClick={() => void startDemo.run(app)}>
            {texts.start.demo}
          </Button>
        </Way>
        <Way title={texts.start.keyTitle} body={texts.start.keyBody}>
          <Snippet text={texts.start.keyCommand} />
        </Way>
        <Way title={texts.start.serverTitle} body={texts.start.serverBody(shortPath(home, home))}>
          <Snippet text={texts.start.serverSnippet} />
        </Way>
      </div>
      <Recent />
    </>
  );
}

function Way(props: { title: string; body: string; children: ReactNode }) {
  return (
    <section className="py-4">
      <h2 className="font-medium">{props.title}</h2>
      <p className="mt-0.5 mb-2.5 text-muted text-sm">{props.body}</p>
      {props.children}
    </section>
  );
}
