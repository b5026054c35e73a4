// Images from the clipboard or a file, as base64 for the wire.
import type { PromptImage } from "../../protocol";

export const LARGEST = 5_000_000;
const TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

export function imageFiles(list: FileList | null | undefined): File[] {
  return [...(list ?? [])].filter((file) => TYPES.includes(file.type));
}

export async function toImage(file: File): Promise<PromptImage> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return { data: btoa(text), mediaType: file.type, altText: null };
}

/** Bytes of a base64 text. */
export function sizeOf(image: PromptImage): number {
  return Math.floor((image.data.length * 3) / 4);
}
