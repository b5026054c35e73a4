// Names over the generated types that the rest of the page uses. It holds types alone.
import type { Event, Methods } from "./generated";

export type * from "./generated";

/** An event of a type that this page knows. */
export type KnownEvent = Extract<Event, { type: string }>;
export type EventType = KnownEvent["type"];
export type EventOf<T extends EventType> = Extract<KnownEvent, { type: T }>;

export type Method = keyof Methods;
type Loose<P> = { [K in keyof P as null extends P[K] ? never : K]: P[K] } & {
  [K in keyof P as null extends P[K] ? K : never]?: P[K];
};
/** Params as one writes them: what may be null may be left out. */
export type ParamsOf<M extends Method> = Loose<Methods[M]["params"]>;
export type ResultOf<M extends Method> = Methods[M]["result"];
