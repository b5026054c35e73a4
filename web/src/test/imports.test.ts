import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { isTest, sources } from "./sources";

/** What each layer may import of ours, besides itself. */
const MAY: Record<string, readonly string[]> = {
  protocol: [],
  client: ["protocol"],
  store: ["protocol", "client"],
  ui: ["protocol"],
  actions: ["protocol", "client", "store", "ui"],
  features: ["protocol", "client", "store", "ui", "actions"],
  app: ["protocol", "client", "store", "ui", "actions", "features"],
  main: ["protocol", "client", "store", "ui", "actions", "features", "app"],
};

const FROM = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;

function layer(path: string): string {
  return path.split("/")[0]?.replace(/\.tsx?$/, "") ?? "";
}

function complaints(path: string, text: string): string[] {
  const here = layer(path);
  return [...text.matchAll(FROM)].flatMap(([, to = ""]) => {
    const there = layer(normalize(join(dirname(path), to)));
    const fine = there === here || (MAY[here] ?? []).includes(there);
    return fine ? [] : [`${path} imports ${to}`];
  });
}

describe("imports", () => {
  it("only go down the layers", () => {
    const ours = sources().filter((source) => !isTest(source.path));
    expect(ours.length).toBeGreaterThan(50);
    expect(ours.map((source) => layer(source.path)).filter((name) => !(name in MAY))).toEqual([]);
    expect(ours.flatMap((source) => complaints(source.path, source.text))).toEqual([]);
  });

  it("are found whichever way they are written", () => {
    expect(complaints("store/a.ts", 'import { b } from "../ui/b";')).toHaveLength(1);
    expect(complaints("client/a.ts", 'await import("../store/x")')).toHaveLength(1);
    expect(complaints("features/rail/a.tsx", 'import "../../app";')).toHaveLength(1);
    expect(complaints("features/rail/a.tsx", 'import { x } from "../../ui/x";')).toEqual([]);
  });

  it("let no one but the wire's decoder believe a type", () => {
    const casts = sources().filter(
      (source) =>
        !isTest(source.path) &&
        source.path !== "client/decode.ts" &&
        source.path !== "protocol/generated.ts" &&
        /\bas (?!const\b)[A-Z{(]/.test(
          source.text.replace(/^\s*\/\/.*$/gm, "").replace(/import[^;]+;/g, ""),
        ),
    );
    expect(casts.map((source) => source.path)).toEqual([]);
  });
});
