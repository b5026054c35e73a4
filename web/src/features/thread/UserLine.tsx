// What the person said: a tinted block at the same left edge as all else.
import type { Message, Part } from "../../store/state";
import { texts } from "../../ui/texts";

export function UserLine({ message }: { message: Message }) {
  return (
    <div className="page-pad">
      <div className="measure space-y-2 rounded-base bg-tint px-3 py-2">
        {message.parts.map((part) => (
          <Said key={part.key} part={part} />
        ))}
      </div>
    </div>
  );
}

function Said({ part }: { part: Part }) {
  if (part.kind === "image") return <ImageBlock mediaType={part.mediaType} data={part.data} />;
  if (part.kind === "tool") return null;
  const text = part.kind === "notice" ? part.content : part.text;
  return <p className="whitespace-pre-wrap break-words">{text}</p>;
}

export function ImageBlock({ mediaType, data }: { mediaType: string; data: string }) {
  if (!/^image\/(png|jpeg|gif|webp)$/.test(mediaType)) return <p>{texts.thread.image}</p>;
  return (
    <img
      src={`data:${mediaType};base64,${data}`}
      alt={texts.thread.image}
      className="max-h-64 max-w-full rounded-small border border-line"
    />
  );
}
