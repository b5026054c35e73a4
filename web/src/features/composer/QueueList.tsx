// Messages that wait for the run to end, oldest first.
import { removeQueued } from "../../actions/remove-queued";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { texts } from "../../ui/texts";
import { useApp, useOpenThread } from "../context";

export function QueueList({ sessionId }: { sessionId: string }) {
  const app = useApp();
  const queue = useOpenThread((thread) => thread?.queue ?? null);
  if (!queue || queue.length === 0) return null;
  return (
    <ul className="mb-1.5 max-h-32 overflow-y-auto" aria-label={texts.composer.queued}>
      {queue.map((waiting) => (
        <li key={waiting.id} className="flex items-center gap-2 text-muted text-sm">
          <span className="shrink-0 text-xs">{texts.composer.queued}</span>
          <span className="min-w-0 flex-1 truncate text-text" title={waiting.content}>
            {waiting.content}
          </span>
          <Button
            small
            aria-label={texts.composer.removeQueued}
            title={texts.composer.removeQueued}
            onClick={() => void removeQueued(app, sessionId, waiting.id)}
          >
            <Icon name="close" className="size-3.5" />
          </Button>
        </li>
      ))}
    </ul>
  );
}
