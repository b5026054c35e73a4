import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { RpcError } from "../../client";
import type { QuestionAsked } from "../../protocol";
import { stand } from "../../test/stand";
import { Questions } from "./index";

const questions: QuestionAsked = {
  requestId: "q1",
  toolCallId: "t1",
  kind: "question",
  questions: [
    {
      question: "Which colour?",
      header: "Colour",
      options: [{ label: "red", description: "like fire" }, { label: "blue" }],
      custom: true,
    },
    {
      question: "Which days?",
      options: [{ label: "Monday" }, { label: "Tuesday" }],
      multiple: true,
      custom: false,
    },
  ],
  askedAt: 1,
};
const plan: QuestionAsked = {
  requestId: "q2",
  toolCallId: "t2",
  kind: "plan",
  questions: [],
  plan: "First this.",
  allowed: [{ tool: "Bash", text: "run the tests" }],
  modes: ["default", "acceptEdits"],
  askedAt: 1,
};

function begin(question: QuestionAsked) {
  const on = stand({ questions: [question] });
  on.show(<Questions />);
  return on;
}

const said = (on: ReturnType<typeof stand>) =>
  on.asked.filter((one) => one.method.startsWith("question.")).map((one) => one.params);

describe("questions", () => {
  it("are answered only when each has an answer, with labels and words apart", async () => {
    const on = begin(questions);
    const send = screen.getByRole<HTMLButtonElement>("button", { name: "Answer" });
    fireEvent.click(screen.getByRole("radio", { name: /red/ }));
    fireEvent.click(screen.getByRole("radio", { name: /blue/ }));
    expect(send.disabled).toBe(true);
    fireEvent.click(screen.getByRole("checkbox", { name: "Tuesday" }));
    fireEvent.click(screen.getByRole("checkbox", { name: "Monday" }));
    fireEvent.change(screen.getByRole("textbox"), { target: { value: " but dark " } });
    fireEvent.click(send);
    await waitFor(() => expect(screen.queryByRole("region")).toBeNull());
    expect(said(on)).toEqual([
      {
        requestId: "q1",
        picks: [{ labels: ["blue"], text: "but dark" }, { labels: ["Tuesday", "Monday"] }],
      },
    ]);
  });

  it("can be skipped, and take no focus", async () => {
    const on = begin(questions);
    expect(document.activeElement).toBe(document.body);
    fireEvent.click(screen.getByRole("button", { name: "Skip" }));
    await waitFor(() => expect(screen.queryByRole("region")).toBeNull());
    expect(said(on)).toEqual([{ requestId: "q1" }]);
  });

  it("stay, with the reason, when the answer fails", async () => {
    const on = begin(questions);
    on.answer("question.reject", () => Promise.reject(new RpcError(-32603, "the disk is full")));
    fireEvent.click(screen.getByRole("button", { name: "Skip" }));
    await waitFor(() => expect(screen.getByRole("alert").textContent).toContain("disk is full"));
  });
});

describe("a plan", () => {
  it("is shown with what it wants, and carried out in the mode that was chosen", async () => {
    const on = begin(plan);
    const card = screen.getByRole("region", { name: "A plan" });
    await waitFor(() => expect(within(card).getByText("First this.")).toBeTruthy());
    expect(within(card).getByText("Bash: run the tests")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Carry it out, accept edits" }));
    await waitFor(() => expect(screen.queryByRole("region")).toBeNull());
    expect(said(on)).toEqual([{ requestId: "q2", approved: true, mode: "acceptEdits" }]);
  });

  it("is sent back with what is wrong with it", async () => {
    const on = begin(plan);
    const reason = screen.getByRole("textbox");
    fireEvent.change(reason, { target: { value: "too much" } });
    fireEvent.keyDown(reason, { key: "Enter" });
    await waitFor(() => expect(screen.queryByRole("region")).toBeNull());
    expect(said(on)).toEqual([{ requestId: "q2", approved: false, reason: "too much" }]);
  });
});
