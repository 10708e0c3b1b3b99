// @module-tag slow

import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import type { RetryPolicy } from "../../../src/inbox/retry.ts";
import type { Outcome } from "../../../src/payload/parse.ts";
import { startReceiverProcess } from "../../support/receiver-process.ts";
import { waitFor } from "../../support/wait-for.ts";
import { failed } from "../engine.ts";
import { fastClock } from "./fast-clock.ts";
import { incoming, openInbox, succeeded, waitForStatus, work } from "./open-inbox.ts";

const hourMs = 3_600_000;
const key = { id: "a", endpoint: "retrain" };
/** The wait is so long that the delivery does not run again during the test. */
const hourlyRetries: RetryPolicy = { maxAttempts: 3, waitAfter: () => hourMs, totalWaitMs: 2 * hourMs };
const immediateRetries: RetryPolicy = { maxAttempts: 3, waitAfter: () => 1, totalWaitMs: 2 };

/** Starts a delivery that another process takes over while the first run continues. */
async function takenOver({
  policy,
  run = () => succeeded,
}: {
  policy: RetryPolicy;
  run?: () => Outcome | Promise<Outcome>;
}) {
  const release = Promise.withResolvers<Outcome>();
  const first = openInbox({ leaseMs: hourMs });
  const signals: AbortSignal[] = [];
  const runs = work(
    first.inbox,
    (_claimed, signal) => {
      signals.push(signal);
      return release.promise;
    },
    { policy },
  );
  await first.inbox.accept(incoming("a"));
  await waitFor(() => expect(runs).toHaveLength(1));
  const second = openInbox({ file: first.file, leaseMs: hourMs, monotonicNow: fastClock(hourMs / 4).now });
  const taken = work(second.inbox, run, { policy });
  await waitFor(() => expect(second.logger.lines).toMatchObject([{ code: "ABANDONED" }]));
  return { first, second, runs, taken, signals, release };
}

const late = { level: "warn", deliveryId: "a", attempt: 1, msg: expect.stringContaining("counts as succeeded") };
const ignored = { level: "warn", deliveryId: "a", msg: expect.stringContaining("is ignored") };

describe("A success after another process has taken over the delivery", () => {
  test("counts while the delivery waits for its next run, and is logged once", async () => {
    const { first, release, taken, signals } = await takenOver({ policy: hourlyRetries });
    // The handler can still succeed after the abort.
    await waitFor(() => expect(signals[0]?.reason).toMatchObject({ code: "LEASE_LOST" }));
    release.resolve(succeeded);
    const stored = await waitForStatus(first.inbox, "a", "succeeded");
    expect(stored?.attempts).toMatchObject([{ number: 1, outcome: "succeeded" }]);
    expect(taken).toEqual([]);
    expect(first.logger.lines).toMatchObject([late]);
  });

  test("counts if the delivery is dead", async () => {
    const { first, release } = await takenOver({ policy: { ...immediateRetries, maxAttempts: 1 } });
    await waitForStatus(first.inbox, "a", "dead");
    release.resolve(succeeded);
    const stored = await waitForStatus(first.inbox, "a", "succeeded");
    expect(stored?.attempts).toMatchObject([{ number: 1, outcome: "succeeded" }]);
    expect(await first.inbox.counts()).toMatchObject({ retrain: { succeeded: 1, dead: 0 } });
  });

  test("counts while the other process runs the delivery, with any result of that run", async () => {
    const other = Promise.withResolvers<Outcome>();
    const { first, second, release, taken } = await takenOver({ policy: immediateRetries, run: () => other.promise });
    await waitFor(() => expect(taken).toHaveLength(1));
    release.resolve(succeeded);
    await waitForStatus(first.inbox, "a", "succeeded");
    other.resolve(failed({ retryable: false }));
    await waitFor(() => expect(second.logger.lines.at(-1)).toMatchObject(ignored));
    expect(await first.inbox.get(key)).toMatchObject({ status: "succeeded" });
  });

  test("changes nothing if the other run has already succeeded", async () => {
    const { first, release } = await takenOver({ policy: immediateRetries });
    const stored = await waitForStatus(first.inbox, "a", "succeeded");
    release.resolve(succeeded);
    await waitFor(() => expect(first.logger.lines).toMatchObject([ignored]));
    expect(await first.inbox.get(key)).toMatchObject({
      finishedAt: stored?.finishedAt,
      attempts: [{ outcome: "succeeded" }, { outcome: "succeeded" }],
    });
  });

  test("counts, whereas a failure is ignored", async () => {
    const { first, release } = await takenOver({ policy: hourlyRetries });
    release.resolve(failed({ retryable: false }));
    await waitFor(() => expect(first.logger.lines).toMatchObject([ignored]));
    expect(await first.inbox.get(key)).toMatchObject({ status: "queued", attempts: [{ outcome: "abandoned" }] });
  });

  test("does not cancel a replay that was requested since", async () => {
    const other = Promise.withResolvers<Outcome>();
    const options = { policy: immediateRetries, run: () => other.promise };
    const { first, second, release, runs, taken } = await takenOver(options);
    await waitFor(() => expect(taken).toHaveLength(1));
    await second.inbox.replay(key);
    release.resolve(succeeded);
    await waitFor(() => expect(first.logger.lines.at(-1)).toMatchObject(ignored));
    other.resolve(succeeded);
    // Each of the two processes can run the replay.
    await waitFor(() => expect(runs.length + taken.length).toBeGreaterThanOrEqual(3));
  });
});

describe("A handler that blocks the event loop for longer than a lease", () => {
  test("keeps its delivery, and its success is stored", { timeout: 60_000 }, async () => {
    // Long enough that a busy machine renews the lease in time.
    const leaseMs = 4_000;
    const { inbox, file } = openInbox({ leaseMs });
    const child = startReceiverProcess(new URL("blocking-process.ts", import.meta.url), {
      STORE: dirname(file),
      BLOCKED_MS: String(2.5 * leaseMs),
      LEASE_MS: String(leaseMs),
    });
    await inbox.accept(incoming("a"));
    await child.says("started");
    const watching = work(inbox, () => succeeded);
    expect((await waitForStatus(inbox, "a", "succeeded"))?.attempts).toMatchObject([
      { number: 1, outcome: "succeeded" },
    ]);
    expect(watching).toEqual([]);
  });

  test("loses its delivery if the process counts as hung", { timeout: 60_000 }, async () => {
    const leaseMs = 600;
    const { inbox, file } = openInbox({ leaseMs });
    const child = startReceiverProcess(new URL("blocking-process.ts", import.meta.url), {
      STORE: dirname(file),
      BLOCKED_MS: "600000",
      LEASE_MS: String(leaseMs),
      MAX_BLOCKED_MS: String(leaseMs),
    });
    await inbox.accept(incoming("a"));
    await child.says("started");
    const runs = work(inbox, () => succeeded);
    expect((await waitForStatus(inbox, "a", "succeeded"))?.attempts).toMatchObject([
      { number: 1, outcome: "abandoned" },
      { number: 2, outcome: "succeeded" },
    ]);
    expect(runs).toHaveLength(1);
  });
});
