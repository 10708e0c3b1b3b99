import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { formatDuration } from "../../src/core/options.ts";
import { defaultLimits } from "../../src/http-server/server.ts";
import { createRetryPolicy } from "../../src/inbox/retry.ts";

const root = new URL("../../", import.meta.url);

/** Returns the cells of each row in the table whose first heading is `heading`. */
function tableIn(page: string, firstHeading: string): string[][] {
  const lines = readFileSync(new URL(page, root), "utf8").split("\n");
  const start = lines.findIndex((line) => line.startsWith(`| ${firstHeading} `));
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
  return lines.slice(start + 2, end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

test("The docs list the default backoff", () => {
  const { maxAttempts, waitAfter } = createRetryPolicy({}, () => 0.5);
  const waits = Array.from({ length: maxAttempts - 1 }, (_, index) => formatDuration(waitAfter(index + 1)));
  const rows = tableIn("docs/guides/background.md", "attempt");
  expect(rows.map(([attempt, wait]) => [attempt, wait])).toEqual(
    ["none", ...waits].map((wait, index) => [String(index + 1), wait]),
  );
});

test("The docs list the default limits of a launched server", () => {
  const page = readFileSync(new URL("docs/reference/options.md", root), "utf8");
  const rows = new Map(
    [...page.matchAll(/^\| (`[\w.]+`) \|.*\| ([^|]+) \|$/gm)].map(([, option, value]) => [option, value]),
  );
  expect(rows.get("`maxConnections`")).toBe(defaultLimits.maxConnections.toLocaleString("en-US"));
  expect(rows.get("`maxRequestsPerSocket`")).toBe(defaultLimits.maxRequestsPerSocket.toLocaleString("en-US"));
  expect(rows.get("`timeouts.write`")).toBe(formatDuration(defaultLimits.writeTimeoutMs));
});
