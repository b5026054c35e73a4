// The page's own source files, for the tests that hold its rules.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "..");

export interface Source {
  /** Relative to `src`. */
  path: string;
  text: string;
}

export function walk(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? walk(path) : [path];
  });
}

export function sources(): Source[] {
  return walk(ROOT)
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => ({ path: relative(ROOT, path), text: readFileSync(path, "utf8") }));
}

export function isTest(path: string): boolean {
  return path.startsWith("test/") || /\.test\.tsx?$/.test(path);
}
