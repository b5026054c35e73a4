// One line of the document. Each is drawn again only if it is another object than before.
import { memo } from "react";
import type { Line } from "../../store/select";
import { CutLine } from "./CutLine";
import { EndLine } from "./EndLine";
import { HeadLine } from "./HeadLine";
import { OutgoingLine } from "./OutgoingLine";
import { NoticeLine, TextLine, ThinkingLine } from "./PartLine";
import { FoldLine } from "./tool/FoldLine";
import { ToolLine } from "./tool/ToolLine";
import { ImageBlock, UserLine } from "./UserLine";

export const LineView = memo(function LineView({ line }: { line: Line }) {
  switch (line.kind) {
    case "head":
      return <HeadLine line={line} />;
    case "user":
      return <UserLine message={line.message} />;
    case "tool":
      return <ToolLine tool={line.tool} live={line.live} />;
    case "fold":
      return <FoldLine tools={line.tools} live={line.live} />;
    case "end":
      return <EndLine ending={line.ending} interrupted={line.interrupted} />;
    case "cut":
      return <CutLine cut={line.cut} />;
    case "outgoing":
      return <OutgoingLine message={line.message} />;
    case "part":
      return <PartView line={line} />;
  }
});

function PartView({ line }: { line: Extract<Line, { kind: "part" }> }) {
  const { part } = line;
  switch (part.kind) {
    case "text":
      return <TextLine text={part.text} done={line.done} />;
    case "thinking":
      return <ThinkingLine text={part.text} done={line.done} />;
    case "notice":
      return <NoticeLine level={part.level} content={part.content} />;
    case "image":
      return (
        <div className="page-pad py-1">
          <ImageBlock mediaType={part.mediaType} data={part.data} />
        </div>
      );
  }
}
