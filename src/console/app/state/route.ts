import { signal } from "@preact/signals";

/** A route of the app, which is kept in the URL's hash: `#/deliveries/one?id=7`. */
export interface Route {
  /** Without slashes at the start and the end, such as `deliveries/one`. */
  path: string;
  query: Readonly<Record<string, string>>;
}

/** Reads a route from a URL's hash. */
export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#?\/*/, "");
  const mark = text.indexOf("?");
  const path = (mark === -1 ? text : text.slice(0, mark)).replace(/\/+$/, "");
  return { path, query: mark === -1 ? {} : parseQuery(text.slice(mark + 1)) };
}

/** Reads a query such as `status=dead&endpoint=retrain`. Empty values are left out. */
export function parseQuery(text: string): Record<string, string> {
  return Object.fromEntries([...new URLSearchParams(text)].filter(([, value]) => value !== ""));
}

/** Writes a query, without values that are `undefined` or empty. */
export function formatQuery(query: Readonly<Record<string, string | number | undefined>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") params.set(name, String(value));
  }
  // Slashes and colons are legible in a hash, and valid there.
  return params.toString().replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("%2C", ",");
}

/**
 * Returns the hash of a route, for links.
 *
 * @example
 * ```ts
 * formatRoute("deliveries/one", { endpoint: "retrain", id: "7" }); // "#/deliveries/one?endpoint=retrain&id=7"
 * ```
 */
export function formatRoute(path: string, query: Readonly<Record<string, string | number | undefined>> = {}): string {
  const text = formatQuery(query);
  return text === "" ? `#/${path}` : `#/${path}?${text}`;
}

/** The current route. */
export const route = signal<Route>({ path: "", query: {} });

/** Goes to the hash of a route. `replace` keeps the browser's history as it is. */
export function navigate(hash: string, { replace = false }: { replace?: boolean } = {}): void {
  if (hash === location.hash) return;
  if (replace) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  route.value = parseRoute(hash);
}

/** Keeps {@link route} in sync with the URL. */
export function followLocation(): void {
  const read = () => {
    route.value = parseRoute(location.hash);
  };
  addEventListener("hashchange", read);
  addEventListener("popstate", read);
  read();
}
