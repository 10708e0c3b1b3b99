import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import type { RetryPolicy } from "../../../src/inbox/retry-policy.ts";
import type { Outcome } from "../../../src/payload/delivery.ts";
import { startReceiverProcess } from "../../support/receiver-process.ts";
import { waitFor } from "../../support/wait-for.ts";
import { failed } from "../engine.ts";
import { fastClock } from "./fast-clock.ts";
import { incoming, openInbox, succeeded, waitForStatus, work } from "./open-inbox.ts";

const hourMs = 3_600_000;
const key = { id: "a", endpoint: "retrain" };
/** So that what was taken over is not run before the test is over. */
const waitsLong: RetryPolicy = { attempts: 3, waitAfter: () => hourMs, totalWaitMs: 2 * hourMs };
const atOnce: RetryPolicy = { attempts: 3, waitAfter: () => 1, totalWaitMs: 2 };

/** A delivery that is taken over from a process that shows no sign of life, and runs on there. */
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
    (_task, signal) => {
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
  return { first, second, taken, signals, release };
}

const late = { level: "warn", deliveryId: "a", attempt: 1, msg: expect.stringContaining("The success counts") };
const ignored = { level: "warn", deliveryId: "a", msg: expect.stringContaining("is ignored") };

describe("A success that is reported after the delivery was taken over", () => {
  test("counts while it waits to run again, and is logged once", async () => {
    const { first, release, taken, signals } = await takenOver({ policy: waitsLong });
    // Whether it has succeeded is for its handler to say.
    await waitFor(() => expect(signals[0]?.reason).toMatchObject({ code: "LEASE_LOST" }));
    release.resolve(succeeded);
    const stored = await waitForStatus(first.inbox, "a", "succeeded");
    expect(stored?.attempts).toMatchObject([{ number: 1, outcome: "succeeded" }]);
    expect(taken).toEqual([]);
    expect(first.logger.lines).toMatchObject([late]);
  });

  test("counts when its attempts are used up: it does not stay dead", async () => {
    const { first, release } = await takenOver({ policy: { ...atOnce, attempts: 1 } });
    await waitForStatus(first.inbox, "a", "dead");
    release.resolve(succeeded);
    const stored = await waitForStatus(first.inbox, "a", "succeeded");
    expect(stored?.attempts).toMatchObject([{ number: 1, outcome: "succeeded" }]);
    expect(await first.inbox.counts()).toMatchObject({ retrain: { succeeded: 1, dead: 0 } });
  });

  test("counts while it runs elsewhere, whatever becomes of that run", async () => {
    const other = Promise.withResolvers<Outcome>();
    const { first, second, release, taken } = await takenOver({ policy: atOnce, run: () => other.promise });
    await waitFor(() => expect(taken).toHaveLength(1));
    release.resolve(succeeded);
    await waitForStatus(first.inbox, "a", "succeeded");
    other.resolve(failed({ retryable: false }));
    await waitFor(() => expect(second.logger.lines.at(-1)).toMatchObject(ignored));
    expect(await first.inbox.get(key)).toMatchObject({ status: "succeeded" });
  });

  test("changes nothing when it has succeeded elsewhere", async () => {
    const { first, release } = await takenOver({ policy: atOnce });
    const stored = await waitForStatus(first.inbox, "a", "succeeded");
    release.resolve(succeeded);
    await waitFor(() => expect(first.logger.lines).toMatchObject([ignored]));
    expect(await first.inbox.get(key)).toMatchObject({
      finishedAt: stored?.finishedAt,
      attempts: [{ outcome: "succeeded" }, { outcome: "succeeded" }],
    });
  });

  test("is not what a failure is: that is left to the other run", async () => {
    const { first, release } = await takenOver({ policy: waitsLong });
    release.resolve(failed({ retryable: false }));
    await waitFor(() => expect(first.logger.lines).toMatchObject([ignored]));
    expect(await first.inbox.get(key)).toMatchObject({ status: "queued", attempts: [{ outcome: "abandoned" }] });
  });

  test("leaves a replay that was asked for meanwhile", async () => {
    const other = Promise.withResolvers<Outcome>();
    const { first, second, release, taken } = await takenOver({ policy: atOnce, run: () => other.promise });
    await waitFor(() => expect(taken).toHaveLength(1));
    await second.inbox.replay(key);
    release.resolve(succeeded);
    await waitFor(() => expect(first.logger.lines.at(-1)).toMatchObject(ignored));
    other.resolve(succeeded);
    await waitFor(() => expect(taken.length).toBeGreaterThanOrEqual(2));
  });
});

describe("A handler that blocks the event loop for longer than a lease", () => {
  test("keeps its delivery, and its success is stored", { timeout: 60_000 }, async () => {
    // So long that a busy machine renews it in time.
    const leaseMs = 3_000;
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

  test("loses it when the process counts as hung", { timeout: 60_000 }, async () => {
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
