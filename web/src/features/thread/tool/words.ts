// What a tool call is called in a line: a verb, in the past once it is done, and what it was about.
import type { ToolPart } from "../../../store/state";
import { within } from "../../../ui/format";
import { texts } from "../../../ui/texts";

export interface ToolWords {
  verb: string;
  /** What it is about; set in the code font if `code`. */
  about: string;
  code: boolean;
}

const VERBS: Record<string, readonly [now: string, then: string, wish: string]> = {
  Bash: [texts.tool.running_, texts.tool.ran, texts.tool.run],
  Read: [texts.tool.reading, texts.tool.read, texts.tool.read],
  Write: [texts.tool.writing, texts.tool.wrote, texts.tool.write],
  Edit: [texts.tool.editing, texts.tool.edited, texts.tool.edit],
  MultiEdit: [texts.tool.editing, texts.tool.edited, texts.tool.edit],
  NotebookEdit: [texts.tool.editing, texts.tool.edited, texts.tool.edit],
  Glob: [texts.tool.searching, texts.tool.searched, texts.tool.search],
  Grep: [texts.tool.searching, texts.tool.searched, texts.tool.search],
  LS: [texts.tool.listing, texts.tool.listed, texts.tool.list],
};

const SUBJECTS = ["command", "file_path", "notebook_path", "pattern", "path", "url", "query"];

/** `waits` while a person is asked; what waits or was denied has not been done. */
export function toolWords(tool: ToolPart, project: string, waits: boolean): ToolWords {
  const undone = waits || Boolean(tool.result?.deniedBy);
  const form = undone ? 2 : tool.result ? 1 : 0;
  const verbs = VERBS[tool.name];
  const subject = SUBJECTS.map((name) => tool.args[name]).find(
    (value) => typeof value === "string",
  );
  if (verbs && typeof subject === "string") {
    return {
      verb: verbs[form],
      about: firstLine(within(subject, project)),
      code: true,
    };
  }
  return {
    verb: [texts.tool.using, texts.tool.used, texts.tool.use][form] ?? "",
    about: firstLine(tool.title || tool.name),
    code: false,
  };
}

function firstLine(text: string): string {
  const [line = "", ...rest] = text.split("\n");
  return rest.length > 0 ? `${line} \u2026` : line;
}

export function command(tool: ToolPart): string | null {
  return typeof tool.args.command === "string" ? tool.args.command : null;
}
