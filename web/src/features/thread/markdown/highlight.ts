// Colours code with grammars that ship with the page, each loaded when first met. The colours are
// the page's own tokens, so that both themes fit without a second run.
import type { HighlighterCore, ThemeRegistration } from "shiki/core";

const GRAMMARS = {
  bash: () => import("shiki/langs/bash.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  typescript: () => import("shiki/langs/tsx.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
} as const;

type Grammar = keyof typeof GRAMMARS;

/** The names that people write, and the grammar and its own name that they mean. */
const NAMES: Record<string, readonly [Grammar, string]> = {
  bash: ["bash", "bash"],
  c: ["c", "c"],
  css: ["css", "css"],
  diff: ["diff", "diff"],
  go: ["go", "go"],
  javascript: ["typescript", "tsx"],
  js: ["typescript", "tsx"],
  json: ["json", "json"],
  jsx: ["typescript", "tsx"],
  py: ["python", "python"],
  python: ["python", "python"],
  rs: ["rust", "rust"],
  rust: ["rust", "rust"],
  sh: ["bash", "bash"],
  shell: ["bash", "bash"],
  toml: ["toml", "toml"],
  ts: ["typescript", "tsx"],
  tsx: ["typescript", "tsx"],
  typescript: ["typescript", "tsx"],
  yaml: ["yaml", "yaml"],
  yml: ["yaml", "yaml"],
};

export interface Ink {
  at: number;
  text: string;
  colour: string | null;
}

const PLAIN = "#000000";

/** Shiki wants hex colours; each stands for a token of the page. */
const INKS: Record<string, string> = {
  "#000001": "var(--text-muted)",
  "#000002": "var(--code-keyword)",
  "#000003": "var(--code-string)",
  "#000004": "var(--code-number)",
  "#000005": "var(--code-function)",
  "#000006": "var(--added)",
  "#000007": "var(--removed)",
};

const theme: ThemeRegistration = {
  name: "ostler",
  type: "light",
  colors: { "editor.foreground": PLAIN, "editor.background": "#ffffff" },
  settings: [
    { settings: { foreground: PLAIN, background: "#ffffff" } },
    rule("#000001", ["comment", "punctuation.definition.comment"]),
    rule("#000002", ["keyword", "storage", "keyword.operator.expression", "variable.language"]),
    rule("#000003", ["string", "constant.character"]),
    rule("#000004", ["constant.numeric", "constant.language", "entity.name.type", "support.type"]),
    rule("#000005", ["entity.name.function", "support.function", "entity.name.tag"]),
    rule("#000006", ["markup.inserted"]),
    rule("#000007", ["markup.deleted"]),
  ],
};

function rule(foreground: string, scope: string[]) {
  return { scope, settings: { foreground } };
}

export function knows(language: string): boolean {
  return Object.hasOwn(NAMES, language.toLowerCase());
}

let shared: Promise<HighlighterCore> | null = null;

async function highlighter(): Promise<HighlighterCore> {
  shared ??= Promise.all([import("shiki/core"), import("shiki/engine/javascript")]).then(
    ([{ createHighlighterCore }, { createJavaScriptRegexEngine }]) =>
      createHighlighterCore({
        themes: [theme],
        langs: [],
        engine: createJavaScriptRegexEngine({ forgiving: true }),
      }),
  );
  return shared;
}

/** The pieces of the code with their colours; `null` if it cannot be coloured. */
export async function colour(code: string, language: string): Promise<Ink[] | null> {
  const name = NAMES[language.toLowerCase()];
  if (!name) return null;
  try {
    const shiki = await highlighter();
    if (!shiki.getLoadedLanguages().includes(name[1]))
      await shiki.loadLanguage(GRAMMARS[name[0]]());
    return pieces(shiki.codeToTokensBase(code, { lang: name[1], theme: "ostler" }));
  } catch {
    return null;
  }
}

function pieces(lines: { content: string; color?: string; offset: number }[][]): Ink[] {
  const out: Ink[] = [];
  let at = 0;
  for (const [index, line] of lines.entries()) {
    for (const token of line) {
      out.push({ at, text: token.content, colour: INKS[token.color?.toLowerCase() ?? ""] ?? null });
      at += token.content.length;
    }
    if (index < lines.length - 1) {
      out.push({ at, text: "\n", colour: null });
      at += 1;
    }
  }
  return out;
}
