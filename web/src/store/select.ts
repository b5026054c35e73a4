// From threads to the lines of the document, and from rows to the rail. Pure, and stable: a line
// that did not change is the same object as before, so that it is not drawn again.
import type { ProjectRow } from "../protocol";
import type { CutText, Ending, Message, Outgoing, Part, Row, Thread, ToolPart } from "./state";

export type Line =
  | {
      kind: "head";
      key: string;
      role: Message["role"];
      at: number;
      model: string | null;
      first: boolean;
    }
  | { kind: "user"; key: string; message: Message }
  | { kind: "part"; key: string; part: Exclude<Part, ToolPart>; done: boolean }
  | { kind: "tool"; key: string; tool: ToolPart; live: boolean }
  | { kind: "fold"; key: string; tools: ToolPart[]; live: boolean }
  | { kind: "end"; key: string; ending: Ending | null; interrupted: boolean }
  | { kind: "cut"; key: string; cut: CutText }
  | { kind: "outgoing"; key: string; message: Outgoing };

/** Tools that only look; several in a row are one line. */
const LOOKS = new Set(["Read", "Glob", "Grep", "LS"]);

const cache = new WeakMap<object, Line>();

function once<T extends Line>(owner: object, same: (old: Line) => boolean, make: () => T): Line {
  const old = cache.get(owner);
  if (old && same(old)) return old;
  const line = make();
  cache.set(owner, line);
  return line;
}

export function lines(thread: Thread): Line[] {
  const out: Line[] = [];
  let role: Message["role"] | null = null;
  for (const message of thread.messages) {
    if (message.role !== role || message.role === "user") out.push(head(message, out.length === 0));
    role = message.role;
    if (message.role === "user") out.push(userLine(message));
    else addParts(out, message, thread.running);
    if (message.ending || message.interrupted) out.push(end(message));
  }
  for (const cut of thread.cut)
    out.push(
      once(
        cut,
        () => true,
        () => ({ kind: "cut", key: cut.key, cut }),
      ),
    );
  for (const message of thread.outgoing)
    out.push(
      once(
        message,
        () => true,
        () => ({ kind: "outgoing", key: `out:${message.clientId}`, message }),
      ),
    );
  return out;
}

const heads = new WeakMap<Message["parts"], Line>();
const users = new WeakMap<Message, Line>();
const ends = new WeakMap<Message, Line>();

function head(message: Message, first: boolean): Line {
  const model = message.model ?? message.ending?.model ?? null;
  const old = heads.get(message.parts);
  if (old?.kind === "head" && old.model === model && old.first === first) return old;
  const key = `head:${message.id}`;
  const line: Line = { kind: "head", key, role: message.role, at: message.at, model, first };
  heads.set(message.parts, line);
  return line;
}

function userLine(message: Message): Line {
  const line: Line = users.get(message) ?? { kind: "user", key: `user:${message.id}`, message };
  users.set(message, line);
  return line;
}

function end(message: Message): Line {
  const { ending, interrupted } = message;
  const line: Line = ends.get(message) ?? {
    kind: "end",
    key: `end:${message.id}`,
    ending,
    interrupted,
  };
  ends.set(message, line);
  return line;
}

function addParts(out: Line[], message: Message, live: boolean): void {
  for (const part of message.parts) {
    if (part.kind === "tool") addTool(out, part, live);
    else if (part.kind === "thinking" && part.text.trim() === "") continue;
    else if (part.kind === "text" && part.text.trim() === "") continue;
    else out.push(partLine(part));
  }
}

function partLine(part: Exclude<Part, ToolPart>): Line {
  const done = (part.kind !== "text" && part.kind !== "thinking") || part.next === null;
  return once(
    part,
    () => true,
    () => ({ kind: "part", key: part.key, part, done }),
  );
}

function addTool(out: Line[], tool: ToolPart, running: boolean): void {
  const live = running && tool.result === null;
  const last = out.at(-1);
  if (LOOKS.has(tool.name) && tool.result?.ok !== false) {
    if (last?.kind === "tool" && LOOKS.has(last.tool.name) && last.tool.result?.ok !== false) {
      out[out.length - 1] = fold([last.tool, tool], live || last.live);
      return;
    }
    if (last?.kind === "fold") {
      out[out.length - 1] = fold([...last.tools, tool], live || last.live);
      return;
    }
  }
  const same = (old: Line) => old.kind === "tool" && old.live === live;
  out.push(once(tool, same, () => ({ kind: "tool", key: tool.key, tool, live })));
}

const folds = new WeakMap<ToolPart, Extract<Line, { kind: "fold" }>>();

function fold(tools: ToolPart[], live: boolean): Line {
  const last = tools.at(-1);
  const old = last && folds.get(last);
  const same =
    old?.live === live &&
    old.tools.length === tools.length &&
    old.tools.every((tool, index) => tool === tools[index]);
  if (old && same) return old;
  const line: Extract<Line, { kind: "fold" }> = {
    kind: "fold",
    key: `fold:${tools[0]?.key}`,
    tools,
    live,
  };
  if (last) folds.set(last, line);
  return line;
}

export interface RailGroup {
  path: string;
  name: string;
  exists: boolean;
  rows: Row[];
}

/** Projects with their sessions, newest first, those that hold no match left out. */
export function rail(
  projects: ProjectRow[],
  rows: Record<string, Row>,
  filter: string,
): RailGroup[] {
  const wanted = filter.trim().toLowerCase();
  const groups = new Map<string, RailGroup>(
    projects.map((project) => [
      project.path,
      { path: project.path, name: project.name, exists: project.exists, rows: [] },
    ]),
  );
  const shown = Object.values(rows)
    .filter((row) => row.status !== "deleted" && row.status !== "archived")
    .filter(
      (row) => wanted === "" || `${row.title}\n${row.projectPath}`.toLowerCase().includes(wanted),
    )
    .sort((a, b) => recency(b) - recency(a));
  for (const row of shown) {
    const group = groups.get(row.projectPath) ?? {
      path: row.projectPath,
      name: row.projectPath.split("/").filter(Boolean).at(-1) ?? row.projectPath,
      exists: true,
      rows: [],
    };
    group.rows.push(row);
    groups.set(row.projectPath, group);
  }
  return [...groups.values()].filter((group) => group.rows.length > 0 || wanted === "");
}

function recency(row: Row): number {
  return Math.max(row.lastTurnAt, row.createdAt);
}

export function waitingCount(rows: Record<string, Row>): number {
  return Object.values(rows).reduce((sum, row) => sum + (row.pending ?? 0), 0);
}
