// Cuts a command at the marked parts. The marks count bytes of UTF-8, as the host does.
import type { AskSpan } from "../../protocol";

export interface Piece {
  at: number;
  text: string;
  why: string | null;
}

export function pieces(command: string, spans: AskSpan[]): Piece[] {
  const bytes = new TextEncoder().encode(command);
  const decoder = new TextDecoder();
  const text = (from: number, to: number) => decoder.decode(bytes.subarray(from, to));
  const out: Piece[] = [];
  let at = 0;
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    const start = Math.max(at, span.start);
    const end = Math.min(span.end, bytes.length);
    if (end <= start) continue;
    if (start > at) out.push({ at, text: text(at, start), why: null });
    out.push({ at: start, text: text(start, end), why: span.why });
    at = end;
  }
  if (at < bytes.length) out.push({ at, text: text(at, bytes.length), why: null });
  return out;
}
