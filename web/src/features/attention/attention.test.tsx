import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { REST } from "../../actions/answer-request";
import { RpcError } from "../../client";
import type { PermissionAsked } from "../../protocol";
import { SESSION } from "../../test/host";
import { stand } from "../../test/stand";
import { useKeys } from "../useKeys";
import { Attention } from "./index";

const command = "rm -rf é && push --force";
const request: PermissionAsked = {
  requestId: "r1",
  toolCallId: "t1",
  toolName: "Bash",
  args: { command },
  description: `Run ${command}`,
  suggestedRule: "Bash(rm:*)",
  reason: "no rule allows it",
  cwd: "/home/ada/code",
  mode: "default",
  targets: [{ path: "/etc/hosts", outside: true }],
  // Byte offsets: the accented letter takes two bytes.
  spans: [{ start: 18, end: 25, why: "rewrites history" }],
  hash: "h1",
  askedAt: 1,
};
const second: PermissionAsked = { ...request, requestId: "r2", hash: "h2", description: "Second" };

function Page() {
  useKeys();
  return (
    <>
      <textarea aria-label="field" />
      <Attention />
    </>
  );
}

function begin(requests = [request]) {
  const on = stand({ requests });
  on.show(<Page />);
  return on;
}

const press = (key: string, target: Element = document.body) => fireEvent.keyDown(target, { key });
const answers = (on: ReturnType<typeof stand>) =>
  on.asked.filter((one) => one.method === "permission.answer").map((one) => one.params);

describe("attention bar", () => {
  it("shows what exactly is asked, marks the dangerous bytes and takes no focus", () => {
    begin();
    const bar = screen.getByRole("region", { name: "Needs you" });
    expect(within(bar).getByText("--force").tagName).toBe("MARK");
    expect(bar.querySelector("pre")?.textContent).toBe(command);
    expect(within(bar).getByText("Careful: rewrites history")).toBeTruthy();
    expect(within(bar).getByText("outside the project")).toBeTruthy();
    expect(within(bar).getByText(/no rule allows it/)).toBeTruthy();
    expect(document.activeElement).toBe(document.body);
    expect(screen.getByText(/Needs you: Run rm/).getAttribute("aria-live")).toBe("assertive");
  });

  it("lets keys rest at first, then answers once", async () => {
    const on = begin();
    press("1");
    on.pass(REST - 1);
    press("1");
    expect(answers(on)).toEqual([]);
    on.pass(1);
    press("1");
    await waitFor(() => expect(screen.queryByRole("region", { name: "Needs you" })).toBeNull());
    expect(answers(on)).toEqual([{ requestId: "r1", decision: "allow-once", hash: "h1" }]);
  });

  it("leaves letters in text fields alone", () => {
    const on = begin();
    on.pass(REST);
    press("1", screen.getByLabelText("field"));
    press("3", screen.getByLabelText("Reason for denying"));
    expect(answers(on)).toEqual([]);
  });

  it("treats a click made by a key like a key", async () => {
    const on = begin();
    const once = screen.getByRole("button", { name: "Once" });
    fireEvent.click(once, { detail: 0 });
    expect(answers(on)).toEqual([]);
    fireEvent.click(once, { detail: 1 });
    await waitFor(() => expect(answers(on)).toHaveLength(1));
  });

  it("denies with the reason that was written", async () => {
    const on = begin();
    on.pass(REST);
    press("r");
    const field = screen.getByLabelText("Reason for denying");
    expect(document.activeElement).toBe(field);
    fireEvent.change(field, { target: { value: " use a branch " } });
    fireEvent.keyDown(field, { key: "Enter" });
    await waitFor(() => expect(answers(on)).toHaveLength(1));
    expect(answers(on)[0]).toMatchObject({ decision: "deny", reason: "use a branch" });
  });

  it("allows always with the scope and the rule as changed", async () => {
    const on = begin();
    on.pass(REST);
    press("2");
    fireEvent.click(screen.getByRole("radio", { name: "this project" }));
    fireEvent.change(screen.getByLabelText("Rule"), { target: { value: "Bash(rm -rf target)" } });
    fireEvent.click(screen.getByRole("button", { name: "Allow always" }));
    await waitFor(() => expect(answers(on)).toHaveLength(1));
    expect(answers(on)[0]).toMatchObject({
      decision: "allow-project",
      editedRule: "Bash(rm -rf target)",
      hash: "h1",
    });
  });

  it("counts several requests and rests anew for the next one", async () => {
    const on = begin([request, second]);
    expect(screen.getByText("1 of 2")).toBeTruthy();
    press("j");
    expect(screen.getByText("2 of 2")).toBeTruthy();
    press("k");
    on.pass(REST);
    press("1");
    await waitFor(() => expect(answers(on)).toHaveLength(1));
    press("1");
    expect(answers(on)).toHaveLength(1);
    on.pass(REST);
    press("3");
    await waitFor(() => expect(answers(on)).toHaveLength(2));
    expect(answers(on)[1]).toMatchObject({ requestId: "r2", decision: "deny" });
  });

  it("closes quietly when it was answered elsewhere", async () => {
    const on = begin();
    on.answer("permission.answer", () => Promise.reject(new RpcError(-32002, "resolved")));
    on.pass(REST);
    press("1");
    await waitFor(() => expect(screen.queryByRole("region", { name: "Needs you" })).toBeNull());
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("closes when the event says that it was answered", () => {
    const on = begin();
    act(() =>
      on.app.store.dispatch({
        kind: "event",
        at: 1,
        event: {
          type: "permission.answered",
          sessionId: SESSION,
          seq: 1,
          epoch: "one",
          requestId: "r1",
          answer: { decision: "deny" },
        },
      }),
    );
    expect(screen.queryByRole("region", { name: "Needs you" })).toBeNull();
  });

  it("asks again when it changed since it was shown", async () => {
    const on = begin();
    on.answer("permission.answer", () => Promise.reject(new RpcError(-32011, "stale", "stale")));
    on.pass(REST);
    press("1");
    await screen.findByText(/It changed since it was shown/);
    expect(on.reopened).toEqual([SESSION]);
  });

  it("is entered and left by one key, and Esc answers nothing", () => {
    const on = begin();
    const field = screen.getByLabelText("field");
    field.focus();
    fireEvent.keyDown(field, { key: "j", ctrlKey: true });
    const bar = screen.getByRole("region", { name: "Needs you" });
    expect(bar.contains(document.activeElement)).toBe(true);
    fireEvent.keyDown(document.activeElement ?? bar, { key: "Escape" });
    expect(document.activeElement).toBe(field);
    expect(answers(on)).toEqual([]);
  });
});
