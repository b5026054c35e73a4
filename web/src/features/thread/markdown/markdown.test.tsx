import { render, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { colour } from "./highlight";
import Markdown from "./Markdown";

const show = (text: string, done = true) => render(<Markdown text={text} done={done} />).container;

describe("Markdown", () => {
  it("makes links that open elsewhere and send no referrer", () => {
    show("See [the page](https://example.org/a).");
    const link = screen.getByRole("link", { name: "the page" });
    expect(link.getAttribute("href")).toBe("https://example.org/a");
    expect(link.getAttribute("rel")).toContain("noreferrer");
  });

  it("turns images into links, so that nothing is fetched", () => {
    const page = show("![a cat](https://example.org/cat.png)");
    expect(page.querySelector("img")).toBeNull();
    expect(page.textContent).toContain("a cat");
  });

  it("runs nothing and keeps no dangerous link", () => {
    const page = show(
      '[x](javascript:alert(1)) <img src="https://example.org/x" onerror="alert(1)"> <script>alert(1)</script> <iframe src="https://example.org"></iframe>',
    );
    expect(page.querySelector("script, iframe, img, [onerror]")).toBeNull();
    expect([...page.querySelectorAll("a")].map((link) => link.getAttribute("href"))).not.toContain(
      "javascript:alert(1)",
    );
  });

  it("keeps the lines of a fence and says its language", () => {
    const page = show("```rust\nlet a = 1;\nlet b = 2;\n```");
    expect(page.querySelector("pre")?.textContent).toBe("let a = 1;\nlet b = 2;");
    expect(screen.getByRole("region", { name: "rust" })).toBeTruthy();
  });

  it("draws a fence that is still open", () => {
    const page = show("Look:\n\n```ts\nconst a =", false);
    expect(page.querySelector("pre")?.textContent).toContain("const a =");
  });

  it("colours a fence with the page's own tokens, text unchanged", async () => {
    const page = show('```rust\nfn main() { print("x"); }\n```');
    await waitFor(() => expect(page.querySelector("pre span[style]")).not.toBeNull(), {
      timeout: 4_000,
    });
    expect(page.querySelector("pre")?.textContent).toBe('fn main() { print("x"); }');
    expect(page.querySelector("pre span")?.getAttribute("style")).toMatch(/var\(--/);
  });

  it("colours every language that it says it knows", async () => {
    for (const language of [
      "bash",
      "c",
      "css",
      "diff",
      "go",
      "js",
      "json",
      "py",
      "rs",
      "toml",
      "tsx",
      "yaml",
    ]) {
      const ink = await colour("a = 1\nb", language);
      expect(ink?.map((piece) => piece.text).join(""), language).toBe("a = 1\nb");
    }
    expect(await colour("x", "brainfog")).toBeNull();
  });
});
