import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { SESSION } from "../../test/host";
import { stand } from "../../test/stand";
import { useKeys } from "../useKeys";
import { Composer } from "./index";

function Page() {
  useKeys();
  return <Composer sessionId={SESSION} />;
}

function begin() {
  const on = stand();
  on.show(<Page />);
  const field = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
  const write = (text: string) => fireEvent.change(field, { target: { value: text } });
  const sent = () => on.asked.filter((one) => one.method === "session.send");
  return { on, field, write, sent };
}

describe("composer", () => {
  it("sends on Enter and empties itself", async () => {
    const { on, field, write, sent } = begin();
    write("Fix it");
    fireEvent.keyDown(field, { key: "Enter" });
    await waitFor(() => expect(sent()).toHaveLength(1));
    expect(sent()[0]?.params).toMatchObject({ sessionId: SESSION, message: "Fix it" });
    expect(field.value).toBe("");
    expect(on.app.storage.getItem(`ostler.draft.${SESSION}`)).toBeNull();
  });

  it("lets the call go once the host has shown the message, and says nothing of it", async () => {
    const { on, field, write, sent } = begin();
    let gone = false;
    on.answer("session.send", () => new Promise(() => undefined));
    write("Fix it");
    fireEvent.keyDown(field, { key: "Enter" });
    const clientId = String(sent()[0]?.params.clientId);
    on.signals.get("session.send")?.addEventListener("abort", () => {
      gone = true;
    });
    expect(gone).toBe(false);
    act(() =>
      on.app.store.dispatch({
        kind: "event",
        at: 1,
        event: {
          type: "user_message",
          sessionId: SESSION,
          seq: 1,
          epoch: "one",
          messageId: "u1",
          clientId,
          blocks: [],
        },
      }),
    );
    expect(gone).toBe(true);
    expect(on.app.store.get().threads[SESSION]?.outgoing).toEqual([]);
  });

  it("does not send on Shift+Enter, while composing, or right after", () => {
    const { on, field, write, sent } = begin();
    write("日本");
    fireEvent.keyDown(field, { key: "Enter", shiftKey: true });
    fireEvent.keyDown(field, { key: "Enter", isComposing: true });
    fireEvent.compositionEnd(field);
    fireEvent.keyDown(field, { key: "Enter" });
    expect(sent()).toEqual([]);
    on.pass(100);
    fireEvent.keyDown(field, { key: "Enter" });
    expect(sent()).toHaveLength(1);
  });

  it("keeps the draft of each session", () => {
    const { on, write } = begin();
    write("half a thought");
    expect(on.app.storage.getItem(`ostler.draft.${SESSION}`)).toBe("half a thought");
  });

  it("keeps the text while the line is down", () => {
    const { on, field, write, sent } = begin();
    act(() => on.app.store.dispatch({ kind: "line", line: "reconnecting", at: 1 }));
    write("later");
    fireEvent.keyDown(field, { key: "Enter" });
    expect(sent()).toEqual([]);
    expect(field.value).toBe("later");
    expect(screen.getByRole("alert").textContent).toMatch(/Your text is kept/);
  });

  it("stops a run by its button, and by Esc twice but not once", async () => {
    const { on, field } = begin();
    act(() =>
      on.app.store.dispatch({
        kind: "event",
        at: 1,
        event: {
          type: "session.created",
          sessionId: SESSION,
          seq: 1,
          epoch: "one",
          projectPath: "/p",
        },
      }),
    );
    const stops = () => on.asked.filter((one) => one.method === "session.stop").length;
    fireEvent.click(screen.getByRole("button", { name: "Stop" }));
    await waitFor(() => expect(stops()).toBe(1));
    fireEvent.keyDown(field, { key: "Escape" });
    on.pass(5_000);
    fireEvent.keyDown(field, { key: "Escape" });
    expect(stops()).toBe(1);
    on.pass(200);
    fireEvent.keyDown(field, { key: "Escape" });
    await waitFor(() => expect(stops()).toBe(2));
  });

  it("shows waiting messages and takes one back", async () => {
    const { on } = begin();
    on.answer("session.dequeue", async () => ({ removed: true }));
    act(() =>
      on.app.store.dispatch({
        kind: "event",
        at: 1,
        event: {
          type: "message_queued",
          sessionId: SESSION,
          seq: 1,
          epoch: "one",
          id: "q1",
          content: "then this",
        },
      }),
    );
    expect(screen.getByText("then this")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Remove from queue" }));
    await waitFor(() => expect(screen.queryByText("then this")).toBeNull());
  });

  it("takes a pasted image as a chip and sends it along", async () => {
    const { field, sent } = begin();
    const file = new File([Uint8Array.of(1, 2, 3)], "a.png", { type: "image/png" });
    fireEvent.paste(field, { clipboardData: { files: [file] } });
    await screen.findByText("Image 1, 3 B");
    fireEvent.keyDown(field, { key: "Enter" });
    await waitFor(() => expect(sent()).toHaveLength(1));
    expect(sent()[0]?.params.images).toEqual([
      { data: "AQID", mediaType: "image/png", altText: null },
    ]);
  });
});
