// What a session is doing: a shape and a word, so that colour is never needed.
import { texts } from "./texts";

export type SignState = "idle" | "running" | "needsYou" | "failed";

export function StateSign({ state }: { state: SignState }) {
  return (
    <span className="inline-flex size-3.5 shrink-0 items-center justify-center">
      <Shape state={state} />
      <span className="sr-only">{texts.state[state]}</span>
    </span>
  );
}

function Shape({ state }: { state: SignState }) {
  const common = { viewBox: "0 0 14 14", className: "size-3.5", "aria-hidden": true } as const;
  switch (state) {
    case "running":
      return (
        <svg {...common} className="beat size-3.5 text-running">
          <circle cx="7" cy="7" r="3.5" fill="currentColor" />
        </svg>
      );
    case "needsYou":
      return (
        <svg {...common} className="size-3.5 text-attention">
          <path d="M7 .8 13.2 7 7 13.2.8 7z" fill="currentColor" />
          <path
            d="M7 4v3.4M7 9.6v.1"
            stroke="var(--surface)"
            strokeWidth="1.6"
            strokeLinecap="round"
          />
        </svg>
      );
    case "failed":
      return (
        <svg {...common} className="size-3.5 text-danger">
          <path
            d="M3.5 3.5l7 7M10.5 3.5l-7 7"
            stroke="currentColor"
            strokeWidth="2"
            strokeLinecap="round"
          />
        </svg>
      );
    default:
      return (
        <svg {...common} className="size-3.5 text-line-strong">
          <circle cx="7" cy="7" r="2.75" fill="none" stroke="currentColor" strokeWidth="1.25" />
        </svg>
      );
  }
}
