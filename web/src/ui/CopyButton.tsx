// Copies a text and says so in place.
import { useEffect, useState } from "react";
import { Button } from "./Button";
import { copyText } from "./clipboard";
import { Icon } from "./Icon";
import { texts } from "./texts";

export function CopyButton({ text, className = "" }: { text: string; className?: string }) {
  const [said, setSaid] = useState<boolean | null>(null);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => setSaid(null), 1_500);
    return () => clearTimeout(timer);
  }, [said]);
  const label =
    said === null ? texts.thread.copy : said ? texts.thread.copied : texts.thread.copyFailed;
  return (
    <Button small className={className} onClick={() => void copyText(text).then(setSaid)}>
      <Icon name={said ? "check" : "copy"} className="size-3.5" />
      <span aria-live="polite">{label}</span>
    </Button>
  );
}
