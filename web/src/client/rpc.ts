// One JSON-RPC call over `POST /api`. It keeps no state and retries nothing: what may be sent
// twice is for the caller to know.
import type { Method, ParamsOf, ResultOf } from "../protocol";
import { decodeResult, isObject, parse } from "./decode";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Codes that the page acts on (ipc.md 4 and 11.1); the two below zero hundred are its own. */
export const CODE = {
  notFound: -32004,
  alreadyResolved: -32002,
  stale: -32011,
  unreachable: -1,
  unauthorized: -2,
} as const;

export class RpcError extends Error {
  readonly code: number;
  readonly kind: string | null;
  readonly hint: string | null;

  constructor(
    code: number,
    message: string,
    kind: string | null = null,
    hint: string | null = null,
  ) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.kind = kind;
    this.hint = hint;
  }
}

export interface Door {
  fetch: Fetch;
  clientId: string;
  key: string;
}

let lastId = 0;

export async function call<M extends Method>(
  door: Door,
  method: M,
  params: ParamsOf<M>,
  signal?: AbortSignal,
): Promise<ResultOf<M>> {
  lastId += 1;
  const response = await post(
    door,
    JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params }),
    signal,
  );
  if (response.status === 401)
    throw new RpcError(CODE.unauthorized, "unauthorized", "unauthorized");
  const text = await response.text().catch(() => "");
  const body = parse(text);
  if (!isObject(body)) throw new RpcError(CODE.unreachable, `HTTP ${response.status}`, "network");
  if ("error" in body) throw asError(body.error);
  return decodeResult<ResultOf<M>>(body.result);
}

async function post(door: Door, body: string, signal?: AbortSignal): Promise<Response> {
  try {
    return await door.fetch("/api", {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Authorization: `Bearer ${door.key}`,
        "Ostler-Client": door.clientId,
      },
      credentials: "same-origin",
      body,
      ...(signal ? { signal } : {}),
    });
  } catch {
    throw new RpcError(CODE.unreachable, "unreachable", "network");
  }
}

function asError(value: unknown): RpcError {
  const error = isObject(value) ? value : {};
  const data = isObject(error.data) ? error.data : {};
  return new RpcError(
    typeof error.code === "number" ? error.code : -32603,
    typeof error.message === "string" ? error.message : "",
    typeof data.kind === "string" ? data.kind : null,
    typeof data.hint === "string" ? data.hint : null,
  );
}
