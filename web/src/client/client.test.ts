import { describe, expect, it } from "vitest";
import { createClient, RpcError, takeKey } from "./index";
import type { Fetch } from "./rpc";

function answering(status: number, body: string) {
  const asked: RequestInit[] = [];
  const fetch: Fetch = async (_url, init) => {
    asked.push(init);
    return new Response(body, { status });
  };
  return { client: createClient("key", fetch), asked };
}

describe("call", () => {
  it("sends one JSON-RPC request with key and window, and gives the result", async () => {
    const { client, asked } = answering(200, '{"jsonrpc":"2.0","id":1,"result":[]}');
    expect(await client.call("session.list", {})).toEqual([]);
    const headers = new Headers(asked[0]?.headers);
    expect(headers.get("authorization")).toBe("Bearer key");
    expect(headers.get("ostler-client")).toMatch(/^[0-9a-f]{32}$/);
    expect(JSON.parse(String(asked[0]?.body))).toMatchObject({
      jsonrpc: "2.0",
      method: "session.list",
    });
  });

  it("turns an error object into kind and hint", async () => {
    const { client } = answering(
      200,
      '{"error":{"code":-32002,"message":"gone","data":{"kind":"already_resolved","hint":"reload"}}}',
    );
    const error = await client.call("session.list", {}).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(RpcError);
    expect(error).toMatchObject({ code: -32002, kind: "already_resolved", hint: "reload" });
  });

  it("tells a refused key from an answer that is none", async () => {
    await expect(answering(401, "").client.call("host.info", {})).rejects.toMatchObject({
      code: -2,
    });
    await expect(answering(502, "<html>").client.call("host.info", {})).rejects.toMatchObject({
      code: -1,
      message: "HTTP 502",
    });
  });
});

describe("takeKey", () => {
  const place = (hash: string) => ({ hash, pathname: "/", search: "?x" });

  it("takes the key out of the address and keeps it", () => {
    let url = "";
    const replace = (next: string) => {
      url = next;
    };
    expect(takeKey(place("#k=abc"), replace, localStorage)).toBe("abc");
    expect(url).toBe("/?x");
    expect(takeKey(place("#/s/1"), replace, localStorage)).toBe("abc");
  });

  it("has none when no link was opened", () => {
    expect(takeKey(place(""), () => undefined, localStorage)).toBeNull();
  });
});
