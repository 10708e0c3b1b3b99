import { html } from "hono/html";
import type { Markup } from "./document.ts";

const units = [
  { unit: "day", seconds: 86_400 },
  { unit: "hour", seconds: 3_600 },
  { unit: "minute", seconds: 60 },
] as const;

/**
 * Renders a time relative to `now`, in a `<time>` element with the exact time.
 *
 * @param at ISO 8601.
 * @example
 * ```ts
 * timeAgo("2026-09-01T10:00:00Z", new Date("2026-09-01T10:03:20Z")); // <time …>3 minutes ago</time>
 * ```
 */
export function timeAgo(at: string, now: Date): Markup {
  return html`<time datetime="${at}" title="${at}">${inWords(at, now)}</time>`;
}

function inWords(at: string, now: Date): string {
  const elapsed = (now.getTime() - Date.parse(at)) / 1000;
  const largest = units.find(({ seconds }) => elapsed >= seconds);
  if (!largest) return "just now";
  // Not Intl.RelativeTimeFormat, which reads 4.5 MB of language data into memory.
  const count = Math.floor(elapsed / largest.seconds);
  return `${count} ${largest.unit}${count === 1 ? "" : "s"} ago`;
}
