import { describe, expect, it } from "vitest";
import { SseDecoder } from "./sse";

const TEXT =
  ': hello\r\n\r\nid: 1\ndata: {"a":"é😀"}\n\nevent: x\ndata:first\ndata: second\r\rid: 2\r\ndata: \r\n\r\n: beat\n\nretry: 5\n\n';
const FRAMES = [
  { id: "1", data: '{"a":"é😀"}' },
  { id: "1", data: "first\nsecond" },
  { id: "2", data: "" },
];

describe("SseDecoder", () => {
  it("gives the same frames however the bytes are cut in two", () => {
    const bytes = new TextEncoder().encode(TEXT);
    for (let at = 0; at <= bytes.length; at += 1) {
      const decoder = new SseDecoder();
      const frames = [...decoder.push(bytes.subarray(0, at)), ...decoder.push(bytes.subarray(at))];
      expect(frames, `cut at ${at}`).toEqual(FRAMES);
    }
  });

  it("gives the same frames byte by byte", () => {
    const decoder = new SseDecoder();
    const bytes = new TextEncoder().encode(TEXT);
    expect([...bytes].flatMap((byte) => decoder.push(Uint8Array.of(byte)))).toEqual(FRAMES);
  });

  it("keeps an unfinished frame back", () => {
    expect(new SseDecoder().push(new TextEncoder().encode("data: half\n"))).toEqual([]);
  });
});
