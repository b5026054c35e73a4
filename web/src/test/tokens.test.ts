import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./sources";

const css = readFileSync(join(ROOT, "ui/tokens.css"), "utf8");

type Tokens = Record<string, number>;

function block(start: string): string {
  const from = css.indexOf(start);
  return css.slice(css.indexOf("{", from) + 1, css.indexOf("}", from));
}

/** Relative luminance (WCAG 2) of an OKLCH colour, by Ottosson's matrices. */
function luminance(l: number, c: number, h: number): number {
  const [a, b] = [c * Math.cos((h * Math.PI) / 180), c * Math.sin((h * Math.PI) / 180)];
  const x = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const y = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const z = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const clip = (value: number) => Math.min(1, Math.max(0, value));
  return (
    0.2126 * clip(4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z) +
    0.7152 * clip(-1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z) +
    0.0722 * clip(-0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z)
  );
}

function tokens(text: string): Tokens {
  const found = text.matchAll(/--([\w-]+): oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)/g);
  return Object.fromEntries(
    [...found].map(([, name, l, c, h]) => [name, luminance(Number(l), Number(c), Number(h))]),
  );
}

function contrast(tokens: Tokens, one: string, other: string): number {
  const [low = 0, high = 0] = [tokens[one] ?? Number.NaN, tokens[other] ?? Number.NaN].sort(
    (a, b) => a - b,
  );
  return (high + 0.05) / (low + 0.05);
}

const GROUNDS = ["surface", "surface-sunken", "surface-raised", "hover"];

/** Ink, the grounds that it stands on, and the least contrast. */
const WANTED: readonly [string, readonly string[], number][] = [
  ["text", [...GROUNDS, "tint", "added-tint", "removed-tint", "attention-tint"], 4.5],
  ["text-muted", [...GROUNDS, "tint", "attention-tint", "danger-tint"], 4.5],
  ["accent-text", ["accent"], 4.5],
  ["attention", [...GROUNDS, "attention-tint"], 4.5],
  ["danger", [...GROUNDS, "attention-tint", "danger-tint"], 4.5],
  ["added", ["surface", "surface-sunken", "added-tint"], 4.5],
  ["removed", ["surface", "surface-sunken", "removed-tint"], 4.5],
  ["code-keyword", ["surface-sunken"], 4.5],
  ["code-string", ["surface-sunken"], 4.5],
  ["code-number", ["surface-sunken"], 4.5],
  ["code-function", ["surface-sunken"], 4.5],
  ["running", GROUNDS, 3],
  ["line-strong", GROUNDS, 3],
  ["accent", [...GROUNDS, "attention-tint"], 3],
];

describe("tokens", () => {
  it.each([
    ["light", ":root {"],
    ["dark", ':root[data-theme="dark"]'],
  ])("have enough contrast in %s", (_name, start) => {
    const all = tokens(block(start));
    const poor = WANTED.flatMap(([ink, grounds, least]) =>
      grounds
        .filter((ground) => !(contrast(all, ink, ground) >= least))
        .map((ground) => `${ink} on ${ground}: ${contrast(all, ink, ground).toFixed(2)}`),
    );
    expect(poor).toEqual([]);
  });

  it("are the same dark by wish and by system", () => {
    const lines = (text: string) => text.trim().split(/\s*\n\s*/);
    expect(lines(block(':root:not([data-theme="light"])'))).toEqual(
      lines(block(':root[data-theme="dark"]')),
    );
  });
});
