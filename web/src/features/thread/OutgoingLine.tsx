// A message on its way. If it fails it stays, with what went wrong and a way to send it again.
import { sendMessage } from "../../actions/send-message";
import type { Outgoing } from "../../store/state";
import { Button } from "../../ui/Button";
import { failureText, texts } from "../../ui/texts";
import { useApp, useView } from "../context";
import { ImageBlock } from "./UserLine";

export function OutgoingLine({ message }: { message: Outgoing }) {
  const app = useApp();
  const sessionId = useView((view) => view.sessionId);
  const { failure } = message;
  return (
    <div className="page-pad py-2">
      <div
        className={`measure space-y-2 rounded-base bg-tint px-3 py-2 ${failure ? "" : "text-muted"}`}
      >
        <p className="whitespace-pre-wrap break-words">{message.text}</p>
        {message.images.map((image) => (
          <ImageBlock key={image.data.slice(-48)} mediaType={image.mediaType} data={image.data} />
        ))}
      </div>
      {!failure && <p className="late pt-1 text-muted text-xs">{texts.thread.sending}</p>}
      {failure && (
        <div
          role="alert"
          className="measure flex flex-wrap items-center gap-x-2 pt-1 text-danger text-sm"
        >
          <span className="font-medium">{texts.thread.notSent}</span>
          <span>{failureText(failure)}</span>
          {failure.hint && <span className="text-muted">{failure.hint}</span>}
          <Button
            small
            look="line"
            onClick={() => {
              if (!sessionId) return;
              void sendMessage(app, sessionId, message.text, message.images, message.clientId);
            }}
          >
            {texts.thread.sendAgain}
          </Button>
        </div>
      )}
    </div>
  );
}
