// A few lines to copy.
import { CopyButton } from "./CopyButton";

export function Snippet({ text, className = "" }: { text: string; className?: string }) {
  return (
    <div
      className={`flex items-start gap-2 rounded-base border border-line bg-sunken p-1 pl-3 ${className}`}
    >
      <pre className="min-w-0 flex-1 overflow-x-auto py-1 text-xs">{text}</pre>
      <CopyButton text={text} />
    </div>
  );
}
