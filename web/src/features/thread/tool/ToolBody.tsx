// What a tool row holds when it is open: the change of a file, or the whole call and its output.
import type { ToolPart } from "../../../store/state";
import { CopyButton } from "../../../ui/CopyButton";
import { Diff } from "../../../ui/Diff";
import { within } from "../../../ui/format";
import { texts } from "../../../ui/texts";
import { useOpenRow } from "../../context";
import { command } from "./words";

export function ToolBody({ tool }: { tool: ToolPart }) {
  const project = useOpenRow()?.projectPath ?? "";
  const { result } = tool;
  if (tool.diff && tool.diff.length > 0 && result?.ok !== false) {
    return (
      <div className="space-y-2">
        {tool.diff.map((file) => (
          <Diff key={file.path} file={file} label={within(file.path, project)} />
        ))}
      </div>
    );
  }
  const said = command(tool);
  const output = result ? result.content : tool.tail;
  return (
    <div className="overflow-hidden rounded-base border border-line">
      <Block
        label={texts.tool.input}
        text={said ? `$ ${said}` : inputText(tool)}
        copy={said ?? inputText(tool)}
      />
      <div className="border-line border-t">
        <Block
          label={texts.tool.output}
          text={output || texts.tool.noOutput}
          copy={output}
          muted={output === ""}
        />
      </div>
      {result?.deniedBy && (
        <p className="border-line border-t px-2.5 py-1 text-muted text-xs">
          {texts.tool.deniedBy(result.deniedBy)}
        </p>
      )}
      {result?.total != null && (
        <p className="border-line border-t px-2.5 py-1 text-muted text-xs">
          {texts.tool.cut(result.total)}
        </p>
      )}
    </div>
  );
}

function Block(props: { label: string; text: string; copy: string; muted?: boolean }) {
  return (
    <div className="group/block relative bg-sunken">
      <section
        tabIndex={0}
        aria-label={props.label}
        className="max-h-80 overflow-auto px-2.5 py-1.5"
      >
        <pre
          className={`whitespace-pre-wrap break-words text-xs ${props.muted ? "text-muted" : ""}`}
        >
          {props.text}
        </pre>
      </section>
      {props.copy !== "" && (
        <CopyButton
          text={props.copy}
          className="absolute top-0.5 right-1 bg-sunken opacity-0 focus-visible:opacity-100 group-hover/block:opacity-100 max-wide:opacity-100"
        />
      )}
    </div>
  );
}

function inputText(tool: ToolPart): string {
  return Object.entries(tool.args)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}
