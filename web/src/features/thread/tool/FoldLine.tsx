// Reads and searches in a row, as one line with their number.
import type { ToolPart } from "../../../store/state";
import { texts } from "../../../ui/texts";
import { ToolLine, ToolRow } from "./ToolLine";

export function FoldLine({ tools, live }: { tools: ToolPart[]; live: boolean }) {
  const count = (...names: string[]) => tools.filter((tool) => names.includes(tool.name)).length;
  return (
    <ToolRow
      summary={
        <span className="min-w-0 truncate">
          {texts.tool.fold(count("Read"), count("Glob", "Grep"), count("LS"), live)}
        </span>
      }
    >
      <div className="-ml-7">
        {tools.map((tool) => (
          <ToolLine key={tool.key} tool={tool} live={live && tool.result === null} />
        ))}
      </div>
    </ToolRow>
  );
}
