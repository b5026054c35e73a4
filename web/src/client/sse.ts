// Splits a byte stream into the frames of server-sent events (WHATWG HTML, section 9.2). It must
// give the same frames however the bytes are cut.

export interface Frame {
  id: string | null;
  data: string;
}

export class SseDecoder {
  #text = new TextDecoder("utf-8");
  #line = "";
  #afterReturn = false;
  #id: string | null = null;
  #data: string[] = [];

  /** Takes the next bytes and gives the frames that they complete. */
  push(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    for (const char of this.#text.decode(bytes, { stream: true })) {
      if (char === "\n" && this.#afterReturn) {
        this.#afterReturn = false;
        continue;
      }
      this.#afterReturn = char === "\r";
      if (char === "\n" || char === "\r") {
        const frame = this.#endLine();
        if (frame) frames.push(frame);
      } else {
        this.#line += char;
      }
    }
    return frames;
  }

  #endLine(): Frame | null {
    const line = this.#line;
    this.#line = "";
    if (line === "") return this.#endFrame();
    if (line.startsWith(":")) return null;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.#data.push(value);
    if (field === "id") this.#id = value;
    return null;
  }

  #endFrame(): Frame | null {
    const data = this.#data;
    this.#data = [];
    return data.length === 0 ? null : { id: this.#id, data: data.join("\n") };
  }
}
