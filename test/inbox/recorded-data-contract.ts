import { describe, expect, test } from "vitest";
import type { AttemptDetails } from "../../src/inbox/inbox.ts";
import { maxDetailsBytes } from "../../src/inbox/records.ts";
import { createRetryPolicy } from "../../src/inbox/retry.ts";
import { waitFor } from "../support/wait-for.ts";
import { type Engine, failed, incoming, openInbox, succeeded, waitForStatus, work } from "./engine.ts";

const key = { id: "a", endpoint: "retrain" };
const headers = { "user-agent": "Hub/1.0", "x-text": "\u0000 \ud800 \u{1f917}" };
const details: AttemptDetails = {
  result: '{"rows":3}',
  stack: "Error: No.\n    at train (file:///app.ts:1:1)\u0000\ud800",
  logs: [
    { at: 1_000, level: "info", message: "Training \u{1f917}", fields: '{"epoch":1}' },
    { at: 2_000, level: "error", message: "\u0000\udfff" },
  ],
};

/** Tests of what an inbox records of requests and attempts. */
export function describeRecordedData(engine: Engine): void {
  describe("recorded data", () => {
    test("contains the details of each attempt, also after a restart, and only for a single delivery", async () => {
      const first = await openInbox(engine);
      work(first.inbox, ({ attempt }) =>
        attempt === 1
          ? { ...failed(), details }
          : attempt === 2
            ? failed()
            : { ...succeeded, details: { result: "1" } },
      );
      await first.inbox.accept(incoming("a"));
      await waitForStatus(first.inbox, "a", "succeeded");
      await first.inbox.close(0);
      const { inbox } = await openInbox(engine, { store: first.store });
      const stored = await inbox.get(key);
      expect(stored?.attempts.map((attempt) => attempt.details)).toEqual([details, undefined, { result: "1" }]);
      const { deliveries } = await inbox.list();
      expect(deliveries[0]?.attempts).toHaveLength(3);
      expect(deliveries[0]?.attempts.every((attempt) => !("details" in attempt))).toBe(true);
    });

    test("is complete when the end of an attempt is reported", async () => {
      const { inbox } = await openInbox(engine);
      const reported: Promise<unknown>[] = [];
      work(inbox, ({ id, attempt }) => (id === "a" && attempt > 1 ? succeeded : failed()), {
        policy: createRetryPolicy({ attempts: 2, backoff: ["1h"] }),
        onAttemptStored: (stored) => void reported.push(inbox.get(stored).then((delivery) => delivery?.status)),
      });
      await inbox.accept(incoming("a"));
      await waitFor(async () => expect(await Promise.all(reported)).toEqual(["queued"]), { interval: 5 });
      await inbox.replay(key);
      await waitFor(async () => expect(await Promise.all(reported)).toEqual(["queued", "succeeded"]), { interval: 5 });
    });

    test("contains details that were cut if they are too large", async () => {
      const { inbox } = await openInbox(engine);
      const large: AttemptDetails = { stack: "s".repeat(100_000), logs: Array(500).fill(details.logs?.[0]) };
      work(inbox, () => ({ ...succeeded, details: large }));
      await inbox.accept(incoming("a"));
      const stored = (await waitForStatus(inbox, "a", "succeeded"))?.attempts[0]?.details;
      expect(stored).toMatchObject({ isTruncated: true, stack: expect.stringMatching(/^s{256,}$/) });
      expect(stored?.logs?.length).toBeGreaterThan(0);
      expect(Buffer.byteLength(JSON.stringify(stored))).toBeLessThanOrEqual(maxDetailsBytes);
    });

    test("contains the request headers, also after a restart, and only for a single delivery", async () => {
      const first = await openInbox(engine);
      await first.inbox.accept({ ...incoming("a"), headers });
      await first.inbox.accept(incoming("b"));
      await first.inbox.close(0);
      const { inbox } = await openInbox(engine, { store: first.store });
      expect((await inbox.get(key))?.headers).toEqual(headers);
      expect(await inbox.get({ ...key, id: "b" })).not.toHaveProperty("headers");
      for (const delivery of (await inbox.list()).deliveries) expect(delivery).not.toHaveProperty("headers");
    });

    test("contains the delivery of which one is a copy, also after a restart", async () => {
      const first = await openInbox(engine);
      await first.inbox.accept({ ...incoming("a"), replayOf: "original" });
      await first.inbox.accept(incoming("b"));
      await first.inbox.close(0);
      const { inbox } = await openInbox(engine, { store: first.store });
      const listed = (await inbox.list()).deliveries.map(({ id, replayOf }) => ({ id, replayOf }));
      expect(listed.sort((one, other) => one.id.localeCompare(other.id))).toEqual([
        { id: "a", replayOf: "original" },
        { id: "b", replayOf: undefined },
      ]);
      expect(await inbox.get(key)).toMatchObject({ replayOf: "original" });
      expect(await inbox.get({ ...key, id: "b" })).not.toHaveProperty("replayOf");
    });

    test("contains a copy whose original has an ID that PostgreSQL cannot store", async () => {
      const { inbox } = await openInbox(engine);
      await inbox.accept({ ...incoming("a"), replayOf: "\u0000 \ud800" });
      expect(await inbox.get(key)).toMatchObject({ status: "queued" });
    });

    test("contains the newest headers of a dead delivery that was received again", async () => {
      const { inbox } = await openInbox(engine);
      let works = false;
      work(inbox, () => (works ? succeeded : failed({ retryable: false })));
      await inbox.accept({ ...incoming("a"), headers });
      await waitForStatus(inbox, "a", "dead");
      works = true;
      await inbox.accept({ ...incoming("a"), headers: { again: "yes" } });
      expect((await waitForStatus(inbox, "a", "succeeded"))?.headers).toEqual({ again: "yes" });
    });

    test("is deleted together with the body", async () => {
      const { inbox } = await openInbox(engine);
      work(inbox, () => ({ ...succeeded, details }), { retentionMs: 1 });
      await inbox.accept({ ...incoming("a"), headers });
      await waitForStatus(inbox, "a", "succeeded");
      await waitFor(async () => {
        await inbox.prune();
        expect(await inbox.get(key)).toMatchObject({ attempts: [] });
      });
      const stored = await inbox.get(key);
      expect(stored).not.toHaveProperty("body");
      expect(stored).not.toHaveProperty("headers");
    });
  });
}
