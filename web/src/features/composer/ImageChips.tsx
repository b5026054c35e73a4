// Attached images as chips that can be taken off.
import type { PromptImage } from "../../protocol";
import { bytes } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { texts } from "../../ui/texts";
import { sizeOf } from "./images";

export function ImageChips(props: { images: PromptImage[]; onRemove(at: number): void }) {
  if (props.images.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-1.5 px-2 pt-2">
      {props.images.map((image, at) => (
        <li
          key={image.data.slice(-64)}
          className="flex items-center gap-1.5 rounded-small border border-line bg-surface py-0.5 pr-0.5 pl-1 text-xs"
        >
          <img
            src={`data:${image.mediaType};base64,${image.data}`}
            alt=""
            className="size-5 rounded-small object-cover"
          />
          {texts.composer.attached(at + 1, bytes(sizeOf(image)))}
          <button
            type="button"
            className="rounded-small p-0.5 text-muted hover:bg-hover hover:text-text"
            aria-label={texts.composer.removeImage(at + 1)}
            onClick={() => props.onRemove(at)}
          >
            <Icon name="close" className="size-3.5" />
          </button>
        </li>
      ))}
    </ul>
  );
}
