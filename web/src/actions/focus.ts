// The regions of the page by id, and moving between them (F6). Where one came from is remembered,
// so that a key leads back.

export const REGIONS = [
  "rail",
  "header",
  "thread",
  "trust",
  "questions",
  "attention",
  "composer",
] as const;
export type Region = (typeof REGIONS)[number];

export function focusRegion(region: Region): boolean {
  const element = document.getElementById(region);
  if (!element) return false;
  const inside = element.querySelector<HTMLElement>("[data-focus-first]") ?? element;
  inside.focus();
  return true;
}

/** The region after, or before, the one that has the focus; those that are not there are passed. */
export function nextRegion(step: 1 | -1): Region | null {
  const present = REGIONS.filter(
    (region) => document.getElementById(region)?.offsetParent !== null,
  );
  const here = present.findIndex((region) =>
    document.getElementById(region)?.contains(document.activeElement),
  );
  const at = here < 0 ? (step > 0 ? 0 : present.length - 1) : here + step;
  return present[at] ?? null;
}
