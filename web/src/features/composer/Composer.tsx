// Where the person writes. Enter sends or queues, Shift+Enter breaks the line, and neither acts
// while an input method composes or just ended.
import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { sendMessage } from "../../actions/send-message";
import { stopRun } from "../../actions/stop-run";
import type { PromptImage } from "../../protocol";
import { Button } from "../../ui/Button";
import { bytes } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { texts } from "../../ui/texts";
import { useApp, useOpenThread, useStored } from "../context";
import { ImageChips } from "./ImageChips";
import { imageFiles, LARGEST, toImage } from "./images";
import { QueueList } from "./QueueList";
import { useDraft } from "./useDraft";

/** After an input method ends, its Enter may still arrive as a key. */
const AFTER_COMPOSING = 100;

export function Composer({ sessionId }: { sessionId: string }) {
  const app = useApp();
  const live = useStored((state) => state.line === "live");
  const [draft, setDraft] = useDraft(sessionId);
  const [images, setImages] = useState<PromptImage[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const composed = useRef(0);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const running = useOpenThread((thread) => thread?.running ?? false);
  const empty = draft.trim() === "" && images.length === 0;
  useGrow(field, draft);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another session has its own pictures
  useEffect(() => {
    setImages([]);
    setProblem(null);
    if (matchMedia?.("(pointer: fine)").matches) field.current?.focus();
  }, [sessionId]);

  const send = () => {
    if (empty) return;
    if (!live) return setProblem(texts.composer.offline);
    void sendMessage(app, sessionId, draft, images);
    setDraft("");
    setImages([]);
    setProblem(null);
  };
  const add = async (files: File[]) => {
    const large = files.find((file) => file.size > LARGEST);
    setProblem(large ? texts.composer.tooLarge(bytes(large.size)) : null);
    const read = await Promise.all(files.filter((file) => file.size <= LARGEST).map(toImage));
    setImages((before) => [...before, ...read]);
  };
  const onPaste = (event: ClipboardEvent) => {
    const files = imageFiles(event.clipboardData.files);
    if (files.length === 0) return;
    event.preventDefault();
    void add(files);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.altKey) return;
    const composing =
      event.nativeEvent.isComposing || app.now() - composed.current < AFTER_COMPOSING;
    if (composing) return;
    event.preventDefault();
    send();
  };

  return (
    <form
      id="composer"
      aria-label={texts.regions.composer}
      className="page-pad shrink-0 pt-1 pb-2.5"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <QueueList sessionId={sessionId} />
      <div className="rounded-base border border-line-strong bg-raised focus-within:border-muted">
        <ImageChips images={images} onRemove={(at) => setImages(images.toSpliced(at, 1))} />
        <textarea
          ref={field}
          id="message"
          data-focus-first
          rows={1}
          aria-label={texts.composer.label}
          aria-describedby="composer-hint"
          placeholder={running ? texts.composer.placeholderBusy : texts.composer.placeholder}
          className="block max-h-[55dvh] w-full resize-none overflow-y-auto bg-transparent px-3 pt-2 pb-1 outline-none"
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          onCompositionEnd={() => {
            composed.current = app.now();
          }}
        />
        <div className="flex items-center gap-1.5 px-1.5 pb-1.5">
          <Button
            small
            className="max-wide:min-h-9 max-wide:min-w-9"
            aria-label={texts.composer.attach}
            title={texts.composer.attach}
            onClick={() => picker.current?.click()}
          >
            <Icon name="image" />
          </Button>
          <input
            ref={picker}
            type="file"
            accept="image/png,image/jpeg,image/gif,image/webp"
            multiple
            hidden
            onChange={(event) => {
              void add(imageFiles(event.target.files));
              event.target.value = "";
            }}
          />
          <span id="composer-hint" className="min-w-0 truncate text-muted text-xs max-wide:hidden">
            {running ? texts.composer.hintBusy : texts.composer.hint}
          </span>
          <span className="ml-auto flex gap-1.5">
            {running && (
              <Button look="line" onClick={() => void stopRun.run(app)} className="h-7">
                {texts.composer.stop}
              </Button>
            )}
            <Button
              look={empty ? "line" : "primary"}
              type="submit"
              disabled={empty}
              className="h-7"
            >
              {running ? texts.composer.queue : texts.composer.send}
            </Button>
          </span>
        </div>
      </div>
      {problem && (
        <p role="alert" className="pt-1 text-danger text-xs">
          {problem}
        </p>
      )}
    </form>
  );
}

/** As high as its text, up to the limit that the style sets. */
function useGrow(field: React.RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [field, text]);
}
