// One listener for all keys of the page; what each means stands in the table of actions.
import { useEffect } from "react";
import { actions } from "../actions";
import { find, isTextField } from "../actions/keys";
import { escapeTwice, stopRun } from "../actions/stop-run";
import { useApp } from "./context";

export function useKeys(): void {
  const app = useApp();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || app.view.getState().dialog !== null) return;
      if (event.key === "Escape" && !event.isComposing) {
        if (escapeTwice(app) && (stopRun.when?.(app) ?? false)) void stopRun.run(app);
        return;
      }
      const action = find(actions, app, event, isTextField(event.target));
      if (!action) return;
      event.preventDefault();
      void action.run(app, event.key);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [app]);
}
