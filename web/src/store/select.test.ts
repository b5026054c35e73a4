import { describe, expect, it } from "vitest";
import { row } from "../test/host";
import { lines, rail, waitingCount } from "./select";
import { emptyThread, type Message, type Thread, type ToolPart } from "./state";

function tool(id: string, name: string, ok: boolean | null): ToolPart {
  return {
    kind: "tool",
    key: `tool:${id}`,
    id,
    name,
    title: id,
    args: {},
    startedAt: null,
    elapsedMs: null,
    tail: "",
    diff: null,
    result: ok === null ? null : { content: "", ok, ms: null, deniedBy: null, total: null },
  };
}

function message(id: string, parts: Message["parts"], change: Partial<Message> = {}): Message {
  return {
    id,
    role: "assistant",
    at: 1,
    model: null,
    interrupted: false,
    parts,
    ending: null,
    ...change,
  };
}

function thread(...messages: Message[]): Thread {
  return { ...emptyThread("s"), status: "ready", messages };
}

const text = (id: string) => ({ kind: "text" as const, key: id, block: 0, text: id, next: null });

describe("lines", () => {
  it("folds looks in a row, across responses, and stops at anything else", () => {
    const shown = lines(
      thread(
        message("a1", [tool("1", "Read", true), tool("2", "Grep", true)]),
        message("a2", [tool("3", "Read", true), tool("4", "Bash", true), tool("5", "Read", true)]),
      ),
    );
    expect(shown.map((line) => line.kind)).toEqual(["head", "fold", "tool", "tool"]);
    expect(shown[1]).toMatchObject({ tools: [{ id: "1" }, { id: "2" }, { id: "3" }] });
  });

  it("leaves a look that failed on its own", () => {
    const shown = lines(thread(message("a1", [tool("1", "Read", true), tool("2", "Read", false)])));
    expect(shown.map((line) => line.kind)).toEqual(["head", "tool", "tool"]);
  });

  it("heads each turn once", () => {
    const user = (id: string) => message(id, [text(id)], { role: "user" });
    const shown = lines(
      thread(user("u1"), message("a1", [text("x")]), message("a2", [text("y")]), user("u2")),
    );
    expect(shown.map((line) => line.kind)).toEqual([
      "head",
      "user",
      "head",
      "part",
      "part",
      "head",
      "user",
    ]);
  });

  it("gives the same line for what did not change", () => {
    const before = thread(
      message("a1", [text("x"), tool("1", "Read", true), tool("2", "Read", true)]),
      message("a2", [text("y")]),
    );
    const after = {
      ...before,
      messages: [...before.messages.slice(0, 1), message("a2", [text("z")])],
    };
    const [one, two] = [lines(before), lines(after)];
    expect(two.map((line, index) => line === one[index])).toEqual([true, true, true, false]);
  });
});

describe("rail", () => {
  const projects = [
    { path: "/h/a", name: "a", lastOpenedAt: 2, exists: true, sessions: 1, trust: "yes" as const },
  ];
  const rows = Object.fromEntries(
    [
      row({ id: "1", title: "Old", projectPath: "/h/a", lastTurnAt: 1 }),
      row({ id: "2", title: "New", projectPath: "/h/a", lastTurnAt: 9, pending: 2 }),
      row({ id: "3", title: "Other", projectPath: "/h/b", lastTurnAt: 5, pending: 1 }),
      row({ id: "4", title: "Gone", projectPath: "/h/a", status: "deleted" }),
    ].map((one) => [one.id, one]),
  );

  it("groups by project, newest first, and adds projects that only sessions name", () => {
    expect(
      rail(projects, rows, "").map((group) => [group.name, group.rows.map((one) => one.title)]),
    ).toEqual([
      ["a", ["New", "Old"]],
      ["b", ["Other"]],
    ]);
  });

  it("narrows to what matches", () => {
    expect(rail(projects, rows, "oth").map((group) => group.name)).toEqual(["b"]);
    expect(waitingCount(rows)).toBe(3);
  });
});
