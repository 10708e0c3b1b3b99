import { describe, expect, test } from "vitest";
import type { DeliveryAttempt, StoredDelivery } from "../../../src/inbox/inbox.ts";
import { deliveryMain } from "../../../src/receiver/dashboard/delivery.ts";

const receivedAt = new Date("2026-09-01T10:00:00.000Z");
const later = (milliseconds: number) => new Date(receivedAt.getTime() + milliseconds);

function attempt(number: number, changes: Partial<DeliveryAttempt> = {}): DeliveryAttempt {
  const error = { code: "HANDLER_FAILED", message: `message ${number}.` };
  return { number, startedAt: later(1_500 * number), durationMs: 250, outcome: "failed", error, ...changes };
}

/** Returns the text of the page, with single spaces. */
function shown(changes: Partial<StoredDelivery>): string {
  const delivery = { id: "d1", endpoint: "retrain", status: "dead", receivedAt, attempts: [], ...changes } as const;
  const main = deliveryMain({ delivery, isWorkedOn: true, now: later(60_000) });
  return String(main)
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ");
}

describe("The page of a delivery", () => {
  test("shows its wait, its duration and the result of each attempt, newest first", () => {
    const text = shown({
      status: "succeeded",
      finishedAt: later(3_250),
      attempts: [attempt(1), { number: 2, startedAt: later(3_000), durationMs: 250, outcome: "succeeded" }],
    });
    expect(text).toContain("Succeeded at attempt 2");
    expect(text).toContain("Waited before the first attempt 1.5 s");
    expect(text).toContain("From arrival to end 3.3 s");
    expect(text).toMatch(
      /Attempt 2 succeeded 2026-09-01 10:00:03 UTC 250 ms Attempt 1 failed 2026-09-01 10:00:01 UTC 250 ms HANDLER_FAILED message 1\./,
    );
  });

  test("shows when the next attempt is due", () => {
    const text = shown({ status: "queued", dueAt: later(150_000), attempts: [attempt(1)] });
    expect(text).toContain("Queued for attempt 2");
    expect(text).toContain("Next attempt in 1 min 30 s");
    expect(text).toContain("Attempt 2 is due in 1 min 30 s .");
  });

  test("shows a running attempt and an interrupted one", () => {
    const text = shown({ status: "running", attempts: [attempt(1, { outcome: "abandoned" })] });
    expect(text).toContain("Running , attempt 2");
    expect(text).toContain("Attempt 2 is running.");
    expect(text).toContain("Attempt 1 abandoned");
  });

  test("lists only the latest attempts of a delivery that was replayed many times", () => {
    const text = shown({ attempts: Array.from({ length: 60 }, (_, index) => attempt(index + 1)) });
    expect(text).toContain("message 60.");
    expect(text).toContain("message 11.");
    expect(text).not.toContain("message 10.");
    expect(text).toContain("10 earlier ones are not shown.");
  });

  test("truncates a very long error", () => {
    const error = { code: "HANDLER_FAILED", message: "x".repeat(1_000_000) };
    expect(shown({ attempts: [attempt(1, { error })] }).length).toBeLessThan(15_000);
  });

  test("has no replay button if the body was deleted", () => {
    const text = shown({});
    expect(text).toContain("it cannot be replayed");
    expect(text).not.toContain("Runs the handler");
  });

  test("shows that an empty body is empty", () => {
    expect(shown({ body: "" })).toContain("Payload Empty.");
  });
});
