// Numbers, times and paths as people read them. Pure; "now" is always handed in.

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  if (count < 1_000_000) return `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)} kB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}

export function tokens(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 1_000_000) return `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = Math.round((ms % 60_000) / 1_000);
  return minutes < 60
    ? `${minutes} m ${seconds} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
}

export function ago(then: number, now: number): string {
  const minutes = Math.floor((now - then) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} m`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  if (minutes < 7 * 24 * 60) return `${Math.floor(minutes / (24 * 60))} d`;
  return new Date(then).toLocaleDateString("en", { day: "numeric", month: "short" });
}

export function clock(at: number): string {
  return new Date(at).toLocaleTimeString("en", {
    hour: "2-digit",
    minute: "2-digit",
    hour12: false,
  });
}

export function exact(at: number): string {
  return new Date(at).toLocaleString("en", {
    dateStyle: "medium",
    timeStyle: "medium",
    hour12: false,
  });
}

/** A path that fits: the home folder as `~`, the middle left out. */
export function shortPath(path: string, home: string | null, room = 48): string {
  const inHome = home !== null && home !== "" && (path === home || path.startsWith(`${home}/`));
  const whole = inHome ? `~${path.slice((home ?? "").length)}` : path;
  if (whole.length <= room) return whole;
  const parts = whole.split("/");
  const last = parts.pop() ?? "";
  let front = parts.join("/");
  while (front.length + last.length + 3 > room && parts.length > 1) {
    parts.pop();
    front = parts.join("/");
  }
  return `${front}/\u2026/${last}`;
}

/** A path inside the project without the project's folder. */
export function within(path: string, project: string): string {
  return path.startsWith(`${project}/`) ? path.slice(project.length + 1) : path;
}
