import { expect, test } from "vitest";
import type { DevEvent } from "../../src/dev/dev-event.ts";
import { SessionEvents } from "../../src/dev/dev-event.ts";

test("A session that is closed reports only the output of its server and problems", () => {
  const names: string[] = [];
  let isClosed = false;
  const events = new SessionEvents({ onEvent: ({ event }) => names.push(event), isClosed: () => isClosed });
  const all: readonly DevEvent[] = [
    { event: "down", reason: "The tunnel was lost." },
    { event: "delivery", endpoint: "retrain", status: 200, durationMs: 1 },
    { event: "output", stream: "stdout", text: "The last line" },
    { event: "problem", code: "HUB_FAILED", message: "A webhook could not be deleted." },
  ];
  for (const event of all) events.emit(event);
  isClosed = true;
  for (const event of all) events.emit(event);
  expect(names).toEqual(["down", "delivery", "output", "problem", "output", "problem"]);
});
