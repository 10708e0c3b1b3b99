import { signal } from "@preact/signals";
import { toApiFailure } from "../api/failure.ts";

/** The result of an action. */
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

/** Shows why an action failed. */
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
