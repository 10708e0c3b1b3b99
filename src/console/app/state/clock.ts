import { signal } from "@preact/signals";

/** The current time in milliseconds, updated every second while the page is visible. */
export const now = signal(Date.now());

/** Starts {@link now}. */
export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now();
  }, 1_000);
  document.addEventListener("visibilitychange", () => {
    now.value = Date.now();
  });
}
