// Allowing a rule instead of one call: for how long and how far, and the rule itself to change.
import { useEffect, useRef } from "react";
import { answer } from "../../actions/answer-request";
import type { PermissionAsked } from "../../protocol";
import type { Answering, Scope } from "../../store/view";
import { Button } from "../../ui/Button";
import { texts } from "../../ui/texts";
import { useApp, useView } from "../context";

const SCOPES: readonly Scope[] = ["allow-session", "allow-project", "allow-always"];

export function AlwaysForm({ request }: { request: PermissionAsked }) {
  const app = useApp();
  const { scope, rule, sending } = useView((view) => view.answering);
  const first = useRef<HTMLFieldSetElement>(null);
  useEffect(() => {
    const bar = document.getElementById("attention");
    if (bar?.contains(document.activeElement) || document.activeElement === document.body)
      first.current?.querySelector<HTMLInputElement>("input:checked")?.focus();
  }, []);
  const set = (change: Partial<Answering>) =>
    app.view.setState((view) => ({ answering: { ...view.answering, ...change } }));
  if (!request.suggestedRule) return <p className="text-muted text-sm">{texts.attention.noRule}</p>;
  return (
    <form
      className="flex flex-wrap items-center gap-x-3 gap-y-1.5"
      onSubmit={(event) => {
        event.preventDefault();
        void answer(app, scope);
      }}
    >
      <fieldset ref={first} className="flex flex-wrap items-center gap-x-3 text-sm">
        <legend className="sr-only">{texts.attention.scope}</legend>
        {SCOPES.map((choice) => (
          <label key={choice} className="flex items-center gap-1.5 max-wide:min-h-9">
            <input
              type="radio"
              name="scope"
              className="accent-accent"
              checked={scope === choice}
              onChange={() => set({ scope: choice })}
            />
            {texts.attention.scopes[choice]}
          </label>
        ))}
      </fieldset>
      <label className="flex min-w-48 flex-1 items-center gap-2 text-muted text-sm">
        {texts.attention.rule}
        <input
          className="h-7 min-w-0 flex-1 rounded-base border border-line bg-surface px-2 font-mono text-text text-xs max-wide:h-11"
          value={rule}
          onChange={(event) => set({ rule: event.target.value })}
        />
      </label>
      <span className="flex gap-1.5">
        <Button
          look="primary"
          type="submit"
          className="h-7"
          disabled={sending || rule.trim() === ""}
        >
          {texts.attention.confirm}
        </Button>
        <Button look="line" className="h-7 bg-surface" onClick={() => set({ stage: "choose" })}>
          {texts.attention.back}
        </Button>
      </span>
    </form>
  );
}
