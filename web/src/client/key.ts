// The page key: comes once in the fragment of the opening link, lives in this origin's storage
// (ipc.md R-121). It must never stay in the address, where it would be copied and logged.

const STORED = "ostler.key";

export interface Place {
  hash: string;
  pathname: string;
  search: string;
}

/** Takes the key out of the address, or gives the one taken before. */
export function takeKey(
  place: Place,
  replace: (url: string) => void,
  storage: Pick<Storage, "getItem" | "setItem">,
): string | null {
  const key = new URLSearchParams(place.hash.replace(/^#/, "")).get("k");
  if (key) {
    storage.setItem(STORED, key);
    replace(`${place.pathname}${place.search}`);
    return key;
  }
  return storage.getItem(STORED);
}

/** A random name; `crypto.randomUUID` is missing on plain HTTP from another host. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
