// What a window needs of its server: typed calls and one stream of events.
import type { Method, ParamsOf, ResultOf } from "../protocol";
import { randomId } from "./key";
import { call, type Door, type Fetch } from "./rpc";
import { EventStream, type Listener } from "./stream";

export type { Decoded } from "./decode";
export { randomId, takeKey } from "./key";
export { CODE, RpcError } from "./rpc";
export type { Listener } from "./stream";

export interface Client {
  /** A call ended by `signal` fails; whether the host did it is not known then. */
  call<M extends Method>(
    method: M,
    params: ParamsOf<M>,
    signal?: AbortSignal,
  ): Promise<ResultOf<M>>;
  /** Opens the stream; the answer closes it. */
  listen(listener: Listener): { stop(): void; hurry(): void };
}

export function createClient(
  key: string,
  fetcher: Fetch = (url, init) => fetch(url, init),
): Client {
  const door: Door = { fetch: fetcher, clientId: randomId(), key };
  return {
    call: (method, params, signal) => call(door, method, params, signal),
    listen(listener) {
      const stream = new EventStream(door, listener);
      stream.start();
      return { stop: () => stream.stop(), hurry: () => stream.hurry() };
    },
  };
}
