import { signal } from "@preact/signals";

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
