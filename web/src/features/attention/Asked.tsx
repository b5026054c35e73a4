// What exactly is asked: the command with its dangerous parts marked, the change, the places that
// it touches, and why it is asked.
import type { AskTarget, PermissionAsked } from "../../protocol";
import { Diff } from "../../ui/Diff";
import { shortPath, within } from "../../ui/format";
import { texts } from "../../ui/texts";
import { useStored } from "../context";
import { pieces } from "./spans";

export function Asked({ request }: { request: PermissionAsked }) {
  const command = typeof request.args.command === "string" ? request.args.command : null;
  const diffs = request.diff ?? [];
  const plain = command === null && diffs.length === 0;
  return (
    <div className="space-y-1.5">
      {command !== null && <Command command={command} request={request} />}
      {diffs.map((file) => (
        <Diff key={file.path} file={file} label={within(file.path, request.cwd)} />
      ))}
      {plain && <p className="break-words font-mono text-xs">{request.description}</p>}
      <Targets request={request} known={diffs.map((file) => file.path)} />
      {request.reason && (
        <p className="text-muted text-xs">
          {texts.attention.why} {request.reason}
        </p>
      )}
    </div>
  );
}

function Command({ command, request }: { command: string; request: PermissionAsked }) {
  const parts = pieces(command, request.spans);
  const reasons = [...new Set(parts.map((part) => part.why).filter((why) => why !== null))];
  return (
    <>
      <pre className="max-h-60 overflow-auto whitespace-pre-wrap break-words rounded-small border border-line bg-surface px-2.5 py-1.5 text-sm">
        <code>
          {parts.map((part) =>
            part.why === null ? (
              part.text
            ) : (
              <mark
                key={part.at}
                title={part.why}
                className="rounded-small border border-danger bg-danger-tint px-0.5 font-semibold text-danger underline decoration-wavy underline-offset-2"
              >
                {part.text}
              </mark>
            ),
          )}
        </code>
      </pre>
      {reasons.map((why) => (
        <p key={why} className="flex gap-1.5 text-danger text-xs">
          <span aria-hidden="true" className="font-semibold">
            {"\u25b2"}
          </span>
          {texts.attention.danger(why)}
        </p>
      ))}
    </>
  );
}

function Targets({ request, known }: { request: PermissionAsked; known: string[] }) {
  const home = useStored((state) => state.host?.home ?? null);
  const shown = request.targets.filter(
    (target) => target.outside || target.host || !known.includes(target.path ?? ""),
  );
  if (shown.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-0.5 text-xs">
      {shown.map((target) => (
        <Target
          key={`${target.path}:${target.host}`}
          target={target}
          home={home}
          cwd={request.cwd}
        />
      ))}
    </ul>
  );
}

function Target(props: { target: AskTarget; home: string | null; cwd: string }) {
  const { target } = props;
  const place = target.path ?? target.host ?? "";
  const said = target.outside ? shortPath(place, props.home) : within(place, props.cwd);
  return (
    <li className="flex min-w-0 items-center gap-1.5">
      <span className="min-w-0 truncate font-mono text-muted" title={place}>
        {said}
      </span>
      {target.outside && target.path && (
        <span className="shrink-0 rounded-small border border-danger border-dashed px-1 text-danger">
          {texts.attention.outside}
        </span>
      )}
    </li>
  );
}
