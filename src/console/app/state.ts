import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { serverNow, toApiFailure } from "./api.ts";

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

export interface Toast {
  id: number;
  kind: "done" | "failed";
  text: string;
  link?: { hash: string; label: string };
}

/** The toasts on the page, oldest first. */
export const toasts = signal<readonly Toast[]>([]);

const shownMs = 8_000;
const maxToasts = 4;
let lastId = 0;

/** Shows the result of an action. Errors stay until they are closed. `ms`: how long others are shown. */
export function showToast(toast: Omit<Toast, "id">, { ms = shownMs }: { ms?: number } = {}): void {
  lastId += 1;
  const id = lastId;
  toasts.value = [...toasts.value, { ...toast, id }].slice(-maxToasts);
  if (toast.kind === "done") setTimeout(() => closeToast(id), ms);
}

export function showFailure(error: unknown): void {
  showToast({ kind: "failed", text: toApiFailure(error).message });
}

export function closeToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** The text of the page's polite live region. */
export const announcement = signal("");

/** A screen reader that is interrupted more often finishes no announcement. */
const minIntervalMs = 5_000;

let lastAt = Number.NEGATIVE_INFINITY;
let pending: (() => string) | undefined;

/**
 * Announces a summary of what changed, at most every 5 s. A newer summary replaces one that still waits. Pass a function to
 * create the text when it is announced.
 */
export function announce(summary: string | (() => string)): void {
  const text = typeof summary === "string" ? () => summary : summary;
  if (pending !== undefined) {
    pending = text;
    return;
  }
  const wait = lastAt + minIntervalMs - performance.now();
  if (wait <= 0) {
    publish(text);
    return;
  }
  pending = text;
  setTimeout(() => {
    const latest = pending;
    pending = undefined;
    if (latest !== undefined) publish(latest);
  }, wait);
}

function publish(text: () => string): void {
  lastAt = performance.now();
  announcement.value = text();
}

/** The shortcuts, in the order of the help dialog. */
export const shortcuts = [
  { keys: ["/"], description: "Search" },
  { keys: ["j", "k"], description: "Select the next or previous delivery" },
  { keys: ["Enter"], description: "Open the selected delivery" },
  { keys: ["Escape"], description: "Close the delivery, or leave the field" },
  { keys: ["r"], description: "Replay the delivery" },
  { keys: ["e"], description: "Edit the delivery and replay it" },
  { keys: ["?"], description: "Show this help" },
] as const;

type ShortcutKey = (typeof shortcuts)[number]["keys"][number];

/** Returns `false` if the shortcut does not apply. The browser then handles the key. */
type Handler = () => unknown;

/** The handlers per key. The newest is called first. */
const handlers = new Map<string, Handler[]>();

/** Calls `handler` when the key is pressed, unless the user is typing or a dialog is open. */
export function useShortcut(key: ShortcutKey, handler: Handler): void {
  const latest = useRef(handler);
  latest.current = handler;
  useEffect(() => {
    const entry: Handler = () => latest.current();
    handlers.set(key, [entry, ...(handlers.get(key) ?? [])]);
    return () => {
      const others = (handlers.get(key) ?? []).filter((other) => other !== entry);
      handlers.set(key, others);
    };
  }, [key]);
}

export function startKeyboard(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const { target } = event;
    if (target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]")) {
      if (event.key === "Escape" && target.matches("[type=search]")) {
        // The browser would empty the field, which the filter would not follow.
        event.preventDefault();
        target.blur();
      }
      return;
    }
    if (document.querySelector("dialog[open]")) return;
    // The browser handles Enter on a link or a button.
    if (event.key === "Enter" && target instanceof Element && target.closest("a, button, summary")) return;
    for (const handler of handlers.get(event.key) ?? []) {
      if (handler() !== false) {
        event.preventDefault();
        return;
      }
    }
  });
}

const themes = ["system", "light", "dark"] as const;
type Theme = (typeof themes)[number];

const storageKey = "hub-webhooks-theme";

export const theme = signal<Theme>("system");

/** Applies the theme of `?__theme=`, or the one that was chosen before. */
export function startTheme(): void {
  const fromQuery = readTheme(new URLSearchParams(location.search).get("__theme"));
  apply(fromQuery ?? readTheme(readStored()) ?? "system");
}

/** Switches to the next theme and stores the choice. The first click always changes the colors. */
export function switchTheme(): void {
  const next = nextTheme(theme.value, { isSystemDark: matchMedia("(prefers-color-scheme: dark)").matches });
  apply(next);
  try {
    localStorage.setItem(storageKey, next);
  } catch {
    // The browser refuses storage. The theme lasts until the page is loaded again.
  }
}

/** Returns the theme after another one: the opposite of the system's, then the system's own colors, then `system`. */
function nextTheme(current: Theme, { isSystemDark }: { isSystemDark: boolean }): Theme {
  const [opposite, same]: readonly [Theme, Theme] = isSystemDark ? ["light", "dark"] : ["dark", "light"];
  if (current === "system") return opposite;
  return current === opposite ? same : "system";
}

function apply(next: Theme): void {
  theme.value = next;
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
}

function readTheme(text: string | null): Theme | undefined {
  return themes.find((name) => name === text);
}

function readStored(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}

/** The time of the server in milliseconds, updated every second while the page is visible. */
export const now = signal(serverNow());

export const isVisible = signal(true);

/** Starts {@link now} and {@link isVisible}. */
export function startClock(): void {
  const read = () => {
    isVisible.value = !document.hidden;
    now.value = serverNow();
  };
  read();
  setInterval(() => {
    if (isVisible.value) now.value = serverNow();
  }, 1_000);
  document.addEventListener("visibilitychange", read);
}
