import { parseSync, Visitor } from "vite";
import { describe, expect, it } from "vitest";
import { isTest, sources } from "./sources";

/** Attributes that a person reads or hears. */
const SPOKEN = new Set(["aria-label", "title", "placeholder", "alt", "label", "said"]);

function literals(path: string, text: string): string[] {
  const found: string[] = [];
  const words = (value: unknown) => {
    if (typeof value === "string" && /\p{Letter}{2}/u.test(value))
      found.push(`${path}: ${value.trim()}`);
  };
  new Visitor({
    JSXText: (node) => words(node.value),
    JSXAttribute: (node) => {
      const { name, value } = node;
      if (name.type === "JSXIdentifier" && SPOKEN.has(name.name) && value?.type === "Literal")
        words(value.value);
    },
    JSXExpressionContainer: (node) => {
      if (node.expression.type === "Literal") words(node.expression.value);
    },
  }).visit(parseSync(path, text).program);
  return found;
}

describe("texts for people", () => {
  it("stand in the catalogue only", () => {
    const components = sources().filter((one) => one.path.endsWith(".tsx") && !isTest(one.path));
    expect(components.length).toBeGreaterThan(20);
    expect(components.flatMap((one) => literals(one.path, one.text))).toEqual([]);
  });

  it("are found where they stand in a component", () => {
    expect(literals("a.tsx", "const a = <p>Hello</p>;")).toEqual(["a.tsx: Hello"]);
    expect(literals("a.tsx", 'const a = <img alt="A cat" className="block" />;')).toEqual([
      "a.tsx: A cat",
    ]);
    expect(literals("a.tsx", "const a = <p>{texts.hello}</p>;")).toEqual([]);
  });
});
