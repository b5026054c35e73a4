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

const VERBS: Record<string, readonly [now: string, then: string]> = {
  Bash: [texts.tool.running_, texts.tool.ran],
  Read: [texts.tool.reading, texts.tool.read],
  Write: [texts.tool.writing, texts.tool.wrote],
  Edit: [texts.tool.editing, texts.tool.edited],
  MultiEdit: [texts.tool.editing, texts.tool.edited],
  NotebookEdit: [texts.tool.editing, texts.tool.edited],
  Glob: [texts.tool.searching, texts.tool.searched],
  Grep: [texts.tool.searching, texts.tool.searched],
  LS: [texts.tool.listing, texts.tool.listed],
};

const SUBJECTS = ["command", "file_path", "notebook_path", "pattern", "path", "url", "query"];

export function toolWords(tool: ToolPart, project: string): ToolWords {
  const verbs = VERBS[tool.name];
  const subject = SUBJECTS.map((name) => tool.args[name]).find(
    (value) => typeof value === "string",
  );
  if (verbs && typeof subject === "string") {
    return {
      verb: verbs[tool.result ? 1 : 0],
      about: firstLine(within(subject, project)),
      code: true,
    };
  }
  return {
    verb: tool.result ? texts.tool.used : texts.tool.using,
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
