import { act, fireEvent, render, screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { App } from "../app";
import { row, SESSION } from "../test/host";
import { stand } from "../test/stand";

const host = {
  version: "1",
  protocol: "1",
  epoch: "one",
  home: "/home/ada",
  cwd: "/home/ada/code",
  platform: "linux",
  scripted: false,
};

function begin(
  info: Partial<typeof host & { provider: string }> = { provider: "anthropic" },
  sessionId: string | null = null,
) {
  const on = stand();
  on.app.view.setState({ sessionId });
  on.app.store.dispatch(
    { kind: "host", info: { ...host, ...info } },
    { kind: "rows", rows: [row()] },
  );
  render(<App app={on.app} />);
  return on;
}

describe("page", () => {
  it("says where the key comes from when there is none", () => {
    const on = begin();
    act(() => on.app.store.dispatch({ kind: "line", line: "locked", at: 1 }));
    expect(screen.getByText("ostler web")).toBeTruthy();
    expect(screen.queryByRole("navigation")).toBeNull();
  });

  it("offers the scripted demo, named as such, when no model is set up", async () => {
    const on = begin({});
    on.answer("session.start", async () => ({ sessionId: SESSION, projectPath: "/home/ada/code" }));
    fireEvent.click(screen.getByRole("button", { name: "Start scripted demo" }));
    expect(on.asked[0]).toMatchObject({
      method: "session.start",
      params: { projectPath: "/home/ada/code", provider: "scripted", model: "demo" },
    });
    await screen.findByRole("form", { name: "Message" });
  });

  it("has its landmarks and a way past them", () => {
    begin({ provider: "anthropic" }, SESSION);
    expect(screen.getByRole("navigation", { name: "Sessions" })).toBeTruthy();
    expect(screen.getByRole("main")).toBeTruthy();
    expect(screen.getByRole("form", { name: "Message" })).toBeTruthy();
    fireEvent.click(screen.getByText("Skip to the message field"));
    expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Message" }));
  });

  it("says each session's state in words", () => {
    const on = begin();
    act(() => on.app.store.dispatch({ kind: "row", row: row({ state: "needsYou", pending: 1 }) }));
    const rail = screen.getByRole("navigation", { name: "Sessions" });
    expect(within(rail).getByRole("button", { name: /needs you.*A session/ })).toBeTruthy();
  });

  it("asks a second time before bypass, and only then confirms it", async () => {
    const on = begin({ provider: "anthropic" }, SESSION);
    const sets = () =>
      on.asked.filter((one) => one.method === "session.set").map((one) => one.params);
    fireEvent.click(screen.getByRole("button", { name: "Build" }));
    fireEvent.click(screen.getByRole("option", { name: /Bypass/ }));
    expect(sets()).toEqual([]);
    fireEvent.click(screen.getByRole("button", { name: "Use bypass" }));
    expect(sets()).toEqual([{ sessionId: SESSION, agentMode: "bypassPermissions", confirm: true }]);
  });

  it("runs a command from the palette and lists the keys", () => {
    const on = begin({ provider: "anthropic" }, SESSION);
    fireEvent.keyDown(document.body, { key: "k", ctrlKey: true });
    const field = screen.getByRole("combobox", { name: "Commands" });
    fireEvent.change(field, { target: { value: "theme" } });
    fireEvent.keyDown(field, { key: "Enter" });
    expect(on.app.view.getState()).toMatchObject({ theme: "light", dialog: null });
    expect(document.documentElement.dataset.theme).toBe("light");
    fireEvent.keyDown(document.body, { key: "?", shiftKey: true });
    expect(screen.getByRole("heading", { name: "Keys" })).toBeTruthy();
  });

  it("renames in place", async () => {
    const on = begin({ provider: "anthropic" }, SESSION);
    fireEvent.click(
      screen.getByRole("button", { name: "A session", description: "Rename session" }),
    );
    const field = screen.getByRole("textbox", { name: "Title" });
    fireEvent.change(field, { target: { value: "Better" } });
    fireEvent.keyDown(field, { key: "Enter" });
    expect(on.asked).toContainEqual({
      method: "session.rename",
      params: { sessionId: SESSION, title: "Better" },
    });
    await screen.findByRole("heading", { name: "Better" });
  });

  it("shows a session that is not here with one way on", () => {
    const on = begin({ provider: "anthropic" }, SESSION);
    act(() =>
      on.app.store.dispatch({
        kind: "event",
        at: 1,
        event: { type: "session.removed", sessionId: SESSION },
      }),
    );
    fireEvent.click(screen.getByRole("button", { name: "Back to sessions" }));
    expect(on.app.view.getState().sessionId).toBeNull();
  });
});
