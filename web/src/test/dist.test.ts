import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { ROOT, walk } from "./sources";

const DIST = join(ROOT, "..", "dist");

/**
 * Addresses that are named but never asked: names of XML spaces and document types, pages about an
 * error, the base that links are parsed against, a licence line, where to report, the example of the start page.
 */
const NAMED = [
  "http://www.w3.org/",
  "https://react.dev/errors/",
  "http://127.0.0.1:11434/v1",
  "https://github.com/markedjs/marked",
  "https://github.com/syntax-tree/",
  "http://example.com",
  "http://www.ibm.com/data/dtd/",
  "https://tailwindcss.com",
];

/** The first load: what the index page names, and what that imports at once. */
const BUDGET = 125_000;

function files(): { path: string; text: string }[] {
  return walk(DIST)
    .filter((path) => /\.(html|js|css|svg)$/.test(path))
    .map((path) => ({ path: relative(DIST, path), text: readFileSync(path, "utf8") }));
}

describe.runIf(existsSync(join(DIST, "index.html")))("the built page", () => {
  it("names no address of another host but those that are never asked", () => {
    const named = files().flatMap(({ path, text }) =>
      [...text.matchAll(/\b(?:https?|wss?):\/\/[^\s"'`<>)\\]*/g)]
        .map(([url]) => url)
        .filter(
          (url) => /^\w+:\/\/[\w[]/.test(url) && !NAMED.some((known) => url.startsWith(known)),
        )
        .map((url) => `${path}: ${url}`),
    );
    expect(named).toEqual([]);
  });

  it("loads nothing from elsewhere in markup or styles", () => {
    for (const { path, text } of files().filter((file) => /\.(html|css)$/.test(file.path))) {
      expect(text, path).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
      expect(text, path).not.toMatch(/url\(\s*["']?(?:https?:)?\/\//);
      expect(text, path).not.toMatch(/@import\s+(?:url|["'])/);
    }
  });

  it("fits the server's policy: no inline script, and the place for the nonce", () => {
    const html = readFileSync(join(DIST, "index.html"), "utf8");
    expect(html).toContain('<meta name="csp-nonce" nonce="__OSTLER_NONCE__"');
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/);
    expect(html).not.toMatch(/\son\w+=/);
  });

  it("keeps the first load small", () => {
    const html = readFileSync(join(DIST, "index.html"), "utf8");
    const first = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(
      ([, path = ""]) => path,
    );
    expect(first.length).toBeGreaterThan(1);
    const size = first.reduce(
      (sum, path) => sum + gzipSync(readFileSync(join(DIST, path))).length,
      0,
    );
    expect(size).toBeLessThan(BUDGET);
  });
});
