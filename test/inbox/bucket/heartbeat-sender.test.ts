// @module-tag slow

import { expect, onTestFinished, test } from "vitest";
import { HeartbeatSender } from "../../../src/inbox/bucket/ownership.ts";
import { FaultyS3 } from "../../support/faulty-s3.ts";

/** Starts a thread that sends heartbeats to a key. */
async function startSender(s3: FaultyS3, { key = "heartbeats/writer", maxBlockedMs = 600_000 } = {}) {
  const { connection } = await s3.open();
  if (connection === undefined) throw new Error("A thread cannot open the store.");
  const errors: unknown[] = [];
  const sender = new HeartbeatSender({
    ...{ connection, key, maxBlockedMs },
    heartbeat: { isReleased: false },
    intervalMs: 80,
    readPosition: () => 7,
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => sender.stop());
  return { sender, errors };
}

/** Blocks the event loop until the threads have sent a number of heartbeats. */
async function blockUntilSent(s3: FaultyS3, count = 1): Promise<void> {
  // The server runs on the event loop too, so it receives the request after the block.
  while (s3.history.length < count) {
    const until = performance.now() + 60;
    while (performance.now() < until);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("a thread that is stopped waits for the heartbeat in flight, which would otherwise be stored after the release", async () => {
  await using s3 = await FaultyS3.start();
  s3.faults = [{ kind: "latency", ms: 100 }];
  const { sender } = await startSender(s3);
  await blockUntilSent(s3);
  expect(s3.history.map(({ result }) => result)).toEqual([undefined]);
  await sender.stop();
  expect(s3.history.map(({ result }) => result)).toEqual([200]);
});

test("a thread sends heartbeats while the event loop is blocked, until it is stopped", async () => {
  await using s3 = await FaultyS3.start();
  const { sender, errors } = await startSender(s3);
  await blockUntilSent(s3);
  await sender.stop();
  const stored = s3.objects.get("inbox/test/heartbeats/writer");
  expect(JSON.parse(String(stored?.body))).toEqual({ isReleased: false, position: 7 });
  expect(errors).toEqual([]);
  const requests = s3.history.length;
  const until = performance.now() + 200;
  while (performance.now() < until);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(s3.history).toHaveLength(requests);
});

test("a thread sends no heartbeats while the event loop counts as hung, so that another process can take over", async () => {
  await using s3 = await FaultyS3.start();
  await startSender(s3, { key: "heartbeats/hung", maxBlockedMs: 10 });
  await startSender(s3, { key: "heartbeats/busy" });
  await blockUntilSent(s3, 3);
  expect([...new Set(s3.history.map(({ key }) => key))]).toEqual(["inbox/test/heartbeats/busy"]);
});
