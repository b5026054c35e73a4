import { describe, expect, it } from "vitest";
import { actions } from "./index";
import { matches, shown } from "./keys";

const press = (
  key: string,
  held: Partial<Record<"ctrlKey" | "metaKey" | "altKey" | "shiftKey", true>> = {},
) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  isComposing: false,
  ...held,
});

describe("keys", () => {
  it("know the commands' key of each machine", () => {
    expect(matches(press("k", { ctrlKey: true }), "mod+k", false)).toBe(true);
    expect(matches(press("k", { ctrlKey: true }), "mod+k", true)).toBe(false);
    expect(matches(press("k", { metaKey: true }), "mod+k", true)).toBe(true);
    expect(matches(press("n", { metaKey: true }), "n", false)).toBe(false);
  });

  it("tell F6 from Shift+F6, and take signs however they are typed", () => {
    expect(matches(press("F6"), "F6", false)).toBe(true);
    expect(matches(press("F6", { shiftKey: true }), "F6", false)).toBe(false);
    expect(matches(press("F6", { shiftKey: true }), "shift+F6", false)).toBe(true);
    expect(matches(press("?", { shiftKey: true }), "?", false)).toBe(true);
  });

  it("are shown as they stand on the keyboard", () => {
    expect(shown("mod+k", false)).toBe("Ctrl+K");
    expect(shown("mod+k", true)).toBe("\u2318K");
  });
});

describe("the table of actions", () => {
  it("names each action and each key once", () => {
    const ids = actions.map((action) => action.id);
    expect(new Set(ids).size).toBe(ids.length);
    const keys = actions.flatMap((action) => action.keys ?? []);
    expect(new Set(keys).size).toBe(keys.length);
    expect(actions.every((action) => action.title.length > 0)).toBe(true);
  });
});
