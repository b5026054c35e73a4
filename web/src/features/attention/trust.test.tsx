import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { RpcError } from "../../client";
import type { ProjectsTrustReportResult } from "../../protocol";
import { stand } from "../../test/stand";
import { Trust } from "./index";

const report: ProjectsTrustReportResult = {
  hash: "h1",
  state: "no",
  brings: [
    {
      kind: "hook",
      text: "runs `./a.sh` at Stop",
      file: "/p/.claude/settings.json",
      line: 4,
      loosens: true,
    },
    {
      kind: "hook",
      text: "runs `./b.sh` at Stop",
      file: "/p/.claude/settings.json",
      line: 5,
      loosens: true,
    },
    { kind: "mcp", text: "starts the server `x`: `npx x`", file: "/p/.mcp.json", loosens: true },
    { kind: "rule", text: "denies `Read(.env)`", file: "/p/.claude/settings.json", loosens: false },
  ],
};

async function begin(...reports: ProjectsTrustReportResult[]) {
  const on = stand();
  let at = 0;
  on.answer("projects.trustReport", async () => reports[Math.min(at++, reports.length - 1)]);
  on.show(<Trust path="/p" />);
  await waitFor(() => expect(on.app.store.get().trust["/p"]).toBeDefined());
  return on;
}

const decided = (on: Awaited<ReturnType<typeof begin>>) =>
  on.asked.filter((one) => one.method === "projects.trust").map((one) => one.params);

describe("trust", () => {
  it("shows what waits with its place, and trusts exactly what was shown", async () => {
    const on = await begin(report, { ...report, state: "yes" });
    await screen.findByRole("heading", { name: "This folder brings 2 hooks, 1 server" });
    expect(screen.queryByText(/a\.sh/)).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Show each" }));
    expect(screen.getByText(".claude/settings.json:4")).toBeDefined();
    expect(screen.queryByText(/denies/)).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Trust this content" }));
    await waitFor(() => expect(screen.queryByRole("region")).toBeNull());
    expect(decided(on)).toEqual([{ path: "/p", hash: "h1", decision: "trust" }]);
  });

  it("asks again about content that changed meanwhile", async () => {
    const other = { ...report, hash: "h2", state: "changed" as const };
    const on = await begin(report, other);
    on.answer("projects.trust", async () => {
      throw new RpcError(-32011, "`/p` changed since it was shown", "stale");
    });
    fireEvent.click(await screen.findByRole("button", { name: "Trust this content" }));
    await screen.findByText(/You trusted other content/);
    on.answer("projects.trust", async () => null);
    fireEvent.click(screen.getByRole("button", { name: "Not now" }));
    await waitFor(() =>
      expect(decided(on).at(-1)).toEqual({ path: "/p", hash: "h2", decision: "deny" }),
    );
  });

  it.each([
    ["is trusted", { ...report, state: "yes" as const }],
    ["was refused", { ...report, state: "denied" as const }],
    ["only forbids", { ...report, brings: report.brings.slice(3) }],
  ])("is silent where the content %s", async (_, quiet) => {
    await begin(quiet);
    expect(screen.queryByRole("region")).toBeNull();
  });
});
